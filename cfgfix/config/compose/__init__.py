"""A config as overrides, includes and defaults make it."""
