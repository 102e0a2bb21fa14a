"""Configs that build on others which they name: what is told of each file, and of names of files that are not there."""

from pathlib import Path

import pytest
from test_followed_idioms import HEAD, told

MERGE = """
def over(low, high):
    out = dict(low)
    for name, value in high.items():
        if isinstance(value, dict) and isinstance(out.get(name), dict):
            value = dict(value)
            out[name] = value if value.pop("_new_", False) else over(out[name], value)
        else:
            out[name] = value
    return out
"""
LOADS = {
    "one base": """
import os

def load(path):
    with open(path) as stream:
        own = yaml.safe_load(stream) or {}
    base = own.pop("base", None)
    if base is not None:
        own = over(load(os.path.join(os.path.dirname(path), base)), own)
    return own
""",
    "a list of them": """
from pathlib import Path

def load(path):
    path = Path(path)
    own = yaml.safe_load(path.read_text())
    whole = {}
    for name in own.pop("base", []):
        whole = over(whole, load(path.parent / name))
    return over(whole, own)
""",
    "a method of a class": """
import os

class Reader:
    key = "base"

    def __init__(self, folder):
        self.folder = folder

    def read(self, name):
        with open(os.path.join(self.folder, name)) as stream:
            own = yaml.safe_load(stream)
        if self.key not in own:
            return own
        return over(self.read(own.pop(self.key)), own)

def load(path):
    return Reader(os.path.dirname(path)).read(os.path.basename(path))
""",
}
BODY = """
import sys

def main(mill):
    model = tf.keras.Sequential([tf.keras.layers.Dense(mill["wheel"]["spokes"])])
    model.compile(tf.keras.optimizers.SGD(mill["rate"], momentum=mill["flow"].get("momentum", 0.0)), "mse")

main(load({path}))
"""
PLAIN = "wheel:\n  spokes: 4\n  colour: red\nflow:\n  momentun: 0.9\nrate: 0.1\n"


def named(how: str, name: str) -> str:
    return f"base: [{name}]\n" if how == "a list of them" else f"base: {name}\n"


@pytest.mark.parametrize(
    ("how", "path"),
    [
        *((how, "'configs/big.yaml'") for how in LOADS),
        # What is split off a path that is not known is not known.
        *((how, "sys.argv[1]") for how in LOADS if how != "a method of a class"),
    ],
)
def test_keys_of_a_base_are_judged_through_the_configs_that_build_on_it(
    tmp_path: Path, how: str, path: str
) -> None:
    found = told(
        tmp_path,
        {
            "train.py": HEAD + MERGE + LOADS[how] + BODY.replace("{path}", path),
            "configs/plain.yaml": PLAIN,
            "configs/big.yaml": named(how, "plain.yaml") + "wheel:\n  spokes: 9\n  spoke: 3\n",
        },
    )
    assert found["configs/plain.yaml"] == [("dead-key", "wheel.colour"), ("misspelt-key", "flow.momentun")]
    assert found["configs/big.yaml"] == [("dead-key", "wheel.spoke")]


@pytest.mark.parametrize("how", list(LOADS))
def test_a_base_that_is_not_there_ends_the_run(tmp_path: Path, how: str) -> None:
    found = told(
        tmp_path,
        {
            "train.py": HEAD + MERGE + LOADS[how] + BODY.replace("{path}", "'configs/big.yaml'"),
            "tiny.py": HEAD + MERGE + LOADS[how] + BODY.replace("{path}", "'configs/tiny.yaml'"),
            "configs/plain.yaml": PLAIN,
            "configs/tiny.yaml": named(how, "plain.yaml"),
            "configs/big.yaml": named(how, "plane.yaml") + "wheel:\n  spokes: 9\n",
        },
    )
    key = "base.0" if how == "a list of them" else "base"
    assert found["configs/big.yaml"] == [("absent-file", key)]
    # What the other program shows of the base is told all the same.
    assert ("dead-key", "wheel.colour") in found["configs/plain.yaml"]


def test_a_section_that_replaces_the_one_below_lacks_what_that_one_has(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        {
            "train.py": HEAD + MERGE + LOADS["one base"] + BODY.replace("{path}", "sys.argv[1]"),
            "configs/plain.yaml": "wheel:\n  spokes: 4\nflow:\n  momentum: 0.9\nrate: 0.1\n",
            "configs/middle.yaml": "base: plain.yaml\nrate: 0.2\n",
            "configs/big.yaml": "base: middle.yaml\nwheel:\n  _new_: true\n  spoke: 3\n",
            "configs/wide.yaml": "base: middle.yaml\nwheel:\n  _new_: true\n  spokes: 30\n",
        },
    )
    assert [check for check, _ in found["configs/big.yaml"]] == ["misspelt-key"]
    assert not any(found[name] for name in found if name != "configs/big.yaml")


@pytest.mark.parametrize(
    "guard",
    [
        "    if not os.path.exists(path):\n        return {}\n",
        "    try:\n        open(path).close()\n    except OSError:\n        return {}\n",
    ],
)
def test_a_base_that_need_not_be_there_is_not_told(tmp_path: Path, guard: str) -> None:
    body = f"""
import os

def load(path):
{guard}    with open(path) as stream:
        own = yaml.safe_load(stream)
    base = own.pop("base", None)
    return {{**load(base), **own}} if base else own

mill = load("mill.yaml")
tf.keras.layers.Dense(mill["spokes"])
"""
    found = told(tmp_path, {"train.py": HEAD + body, "mill.yaml": "base: mine.yaml\nspokes: 4\n"})
    assert ("absent-file", "base") not in found["mill.yaml"]


def test_a_file_that_git_leaves_out_or_another_call_loads_may_be_made(tmp_path: Path) -> None:
    body = """
import json

def load(path):
    with open(path) as stream:
        own = yaml.safe_load(stream)
    base = own.pop("base", None)
    return {**load(base), **own} if base else own

mill = load("mill.yaml")
words = json.load(open(mill["words"]))
tf.keras.layers.Dense(mill["spokes"])
"""
    found = told(
        tmp_path,
        {
            ".gitignore": "*.local.yaml\n",
            "train.py": HEAD + body,
            "mill.yaml": "base: mill.local.yaml\nspokes: 4\nwords: words.json\n",
        },
    )
    assert not any(check == "absent-file" for check, _ in found["mill.yaml"])
