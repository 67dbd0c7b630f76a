"""Starts Pinfill's commands under their own name; what is beside python.exe decides where modules come from."""

from pinfill_service.cli import main

main()
