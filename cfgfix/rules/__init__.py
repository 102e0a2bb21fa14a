"""The rule catalogue: rules as data, their expressions, and their cases."""
