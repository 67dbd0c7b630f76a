"""Pins: named prefixes that people asked to keep."""
