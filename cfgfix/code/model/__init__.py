"""Summaries of Python files, their expressions, and the program that links them."""
