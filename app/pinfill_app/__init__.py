"""The tray application: supervises the service and shows what is cached.

Of the service it imports the schemas of the management API, its settings, its key, who holds the state folder, and
where resources are; never the engine. Everything else goes over HTTP, or through a command in a process of its own.
"""
