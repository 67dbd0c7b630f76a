"""Starting with the computer, by platform."""
