"""What `installers/dev.py` does, in parts. Nothing here needs a package, and all of it parses on Python 3.8."""
