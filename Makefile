# Long runs that are no part of the usual tests. They take the Python of PYTHON; `make fuzz` tells what it needs.
PYTHON ?= python
SECONDS_EACH ?= 600
TARGETS = documents rules expressions sources

.PHONY: bench release-check fuzz fuzz-edits fuzz-targets node

# Every budget, measured beside the other tools; writes benchmarks/RESULTS.md. CFGFIX_REFERENCE=DIR names the Python project
# to read; BENCH="--only NAME" shows the figures of one workload and writes nothing.
bench:
	$(PYTHON) benchmarks/bench.py $(BENCH)

# Wheel and source distribution: contents, metadata, and installed and used on every Python of pyproject.toml that is here.
release-check:
	$(PYTHON) tools/check_release.py

# More than 100,000 random edits judged by other readers, then ten minutes for each target of fuzz/.
fuzz: fuzz-edits fuzz-targets

fuzz-edits: node
	CFGFIX_DEEP=1 $(PYTHON) -m pytest -q tests/properties
	$(PYTHON) benchmarks/edits.py

# Coverage-guided where atheris is installed (`pip install atheris`), else by plain mutation.
fuzz-targets:
	for target in $(TARGETS); do $(PYTHON) fuzz/$$target.py $(SECONDS_EACH) || exit 1; done

# The third reader, where there is a Node.js.
node:
	command -v npm >/dev/null && npm install --silent --prefix .node yaml || true
