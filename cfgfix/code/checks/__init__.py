"""Checks of Python source, one module for each tight group of rules; see docs/source-checks.md."""
