"""The language server: what `check` finds, while a config is being written."""
