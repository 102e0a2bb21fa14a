import os
import tomllib
from pathlib import Path
from types import SimpleNamespace

DEFAULTS = dict(momentum=0.0, weight_decay=None, augment=())


def experiments():
    path = Path(os.getenv("VINE_PLAN") or Path(__file__).parents[1] / "vine.toml")
    plan = tomllib.loads(path.read_text("utf-8"))
    for change in plan["experiment"]:
        merged = dict(DEFAULTS)
        merged.update(plan["base"])
        merged |= change
        yield SimpleNamespace(**merged)
