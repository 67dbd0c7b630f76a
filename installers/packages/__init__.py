"""Builds the packages that people install: a .deb, a tar.gz and a Setup.exe, from one locked payload.

`wheels` installs the payload for a platform, `keep` says what of it is needed, `payload` puts it together for all
Pythons, `linux` adds what a Linux system wants beside it, and `deb`, `tarball` and `windows` wrap it up. Everything is
made for a `release`, whose files all carry one time, so that the same sources give the same bytes.
"""
