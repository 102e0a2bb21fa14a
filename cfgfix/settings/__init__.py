"""A project's settings, its files and its dialects."""
