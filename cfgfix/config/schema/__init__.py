"""Schemas of configs: validation with exact places, suggestions, and inference from code."""
