"""`python -m cfgfix.measure train.py [arguments]`: the same as `cfgfix profile run`."""

from __future__ import annotations

import runpy
import sys

if __name__ == "__main__":
    sys.argv[1:1] = ["profile", "run"]
    runpy.run_module("cfgfix", run_name="__main__", alter_sys=True)
