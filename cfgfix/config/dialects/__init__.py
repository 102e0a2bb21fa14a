"""Dialects: where each concept lives in a project's config, and how that project loads the file."""
