"""Run a program as far as reading tells: from an entry point, with the values of one config in it."""
