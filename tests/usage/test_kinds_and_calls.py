"""Keys that only code reads which does not run under a config: that of another kind, and what nothing calls."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from cfgfix.usage.project_code import ProjectCode

OVENS = """
    class Stone:
        def __init__(self, plan):
            self.plan = plan
            self.net = tf.keras.layers.Dense(plan["loaves"], name=plan["flour"])

        def crust(self, bread):
            return bread * self.plan["crust"]

        def crumb(self, bread):
            return bread * self.plan["crumb"]

    class Steam:
        def __init__(self, plan):
            self.plan = plan
            self.net = tf.keras.layers.Dense(plan["loaves"] + plan["water"])
            self.kept = {"crust": self.crust}

        def crust(self, bread):
            return bread * self.plan["crust"]

        def crumb(self, bread):
            return bread * self.plan["crumb"]
"""
TRAIN = """
    import sys
    import yaml
    import tensorflow as tf
    from ovens import Stone, Steam
    from watch import Watch

    plan = yaml.safe_load(open("plan.yml"))
    for name in plan.keys():
        print("%s: %s" % (name, plan[name]))
    if plan["oven"] == "stone":
        oven = Stone(plan)
    elif plan["oven"] == "steam":
        oven = Steam(plan)
    if plan["glaze"] == "egg":
        tf.constant(plan["eggs"])
    tf.constant(oven.crumb(3))
"""
WATCH = """
    import tensorflow as tf

    class Watch(tf.keras.callbacks.Callback):
        def __init__(self, plan):
            self.minutes = plan["minutes"]

        def on_epoch_end(self, epoch, logs=None):
            print(self.minutes)
"""
PLAN = """
oven: stone
loaves: 3
flour: rye
water: 2
crust: 0.5
crumb: 0.25
glaze: none
eggs: 2
minutes: 30
"""
IMPORT = "import tensorflow as tf\n"


def told(folder: Path, files: dict[str, str]) -> set[tuple[str, str]]:
    """What the code says of `plan.yml`: the checks with their keys, information left out."""
    for name, text in files.items():
        (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")
    code = ProjectCode(str(folder), lambda _path: False, keep=False)
    hits = code.all()["plan.yml"].hits
    assert not code.failures
    return {
        (check, ".".join(map(str, hit.at.key_path or ()))) for check, hit in hits if hit.severity != "info"
    }


def bakery(changed: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """The files of a bakery, some of them changed."""
    ovens = IMPORT + textwrap.dedent(OVENS)
    files = {"train.py": TRAIN, "ovens.py": ovens, "watch.py": WATCH, "plan.yml": PLAN}
    return files | changed


def test_what_another_kind_reads_and_what_nothing_calls(tmp_path: Path) -> None:
    """Printing all keys is no use of them; the option beside its own switch is left alone."""
    found = told(tmp_path, bakery())
    assert found == {("unused-here", "water"), ("dead-key", "crust"), ("dead-key", "minutes")}


@pytest.mark.parametrize(
    ("changes", "silent"),
    [
        ({"train.py": TRAIN + "    oven.net.add(Watch(plan))\n"}, "minutes"),
        ({"train.py": TRAIN + "    tf.keras.Model().fit(callbacks=[globals()['Watch'](plan)])\n"}, "minutes"),
        ({"train.py": TRAIN + "    tf.keras.layers.Dense(getattr(oven, sys.argv[1])(3))\n"}, "crust"),
        ({"train.py": TRAIN + "    tf.keras.Model().compile(loss=oven.crust)\n"}, "crust"),
        ({"eval.py": "import sys\n\nprint(sys.modules['train'].oven.crust(2))\n"}, "crust"),
        ({"__init__.py": "from .watch import Watch\n"}, "minutes"),
        ({"plan.yml": PLAN.replace("water: 2", "steam_water: 2"), "ovens.py": IMPORT}, "steam_water"),
    ],
    ids=[
        "made", "looked up", "called by a name that is not known", "given to compile", "called by other code",
        "handed out by a package", "named for its kind",
    ],
)  # fmt: skip
def test_what_may_be_called_is_left_alone(tmp_path: Path, changes: dict[str, str], silent: str) -> None:
    if changes.get("ovens.py"):
        changes["ovens.py"] += textwrap.dedent(OVENS).replace("water", "steam_water")
    assert silent not in {key for _, key in told(tmp_path, bakery(changes))}


def test_a_kind_that_the_program_does_not_know_takes_nothing_away(tmp_path: Path) -> None:
    """A word by which all kinds are turned off is no kind."""
    found = told(tmp_path, bakery({"plan.yml": PLAN.replace("oven: stone", "oven: off")}))
    assert not [key for check, key in found if check == "unused-here"]
