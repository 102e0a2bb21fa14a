"""A config held against the code that opens it: runs of the project's programs over its files, and what they show."""
