@echo off
"%~dp0python.exe" "%~dp0pinfill.py" %*
