"""The tray application: supervises the service and shows what is cached. Imports nothing of the service but its
schemas and its agents.
"""
