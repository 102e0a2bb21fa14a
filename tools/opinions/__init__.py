"""Independent opinions on edits of YAML texts, for tests and benchmarks."""
