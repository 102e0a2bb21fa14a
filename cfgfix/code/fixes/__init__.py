"""Edits of Python source, made losslessly and proven by independent readers."""
