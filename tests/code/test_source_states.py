"""Whether a finding takes effect under a config: any way to its place may do it, not only the first that is met."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.core.findings import Finding, State
from cfgfix.lint.runner import Request, check
from cfgfix.settings.reader import Settings

CONFIG = (
    "training:\n  epochs: 10\n  learning_rate: 0.001\n  optimizer: adam\n  batch_size: 32\n  by_numpy: {}\n"
)
HEAD = """\
import cv2
import yaml
import tensorflow as tf

cfg = yaml.safe_load(open("on.yaml"))


def heavy(x):
    return cv2.imread(x)


def slow(x):
    return tf.numpy_function(heavy, [x], tf.float32)


"""


def found(folder: Path, code: str, *configs: str, rule: str = "TFD001") -> list[Finding]:
    """Return what a rule finds in a program, with the flag on, off or both."""
    for name in ("on", "off"):
        (folder / f"{name}.yaml").write_text(CONFIG.format(str(name == "on").lower()), encoding="utf-8")
    (folder / "a.py").write_text(HEAD + code, encoding="utf-8")
    paths = [str(folder / f"{name}.yaml") for name in configs]
    report = check(
        Request(
            paths=(*paths, str(folder / "a.py")),
            settings=Settings(root=str(folder), select=(rule,), tensorflow="2.15"),
        )
    )
    return [finding for file in report.files for finding in file.findings]


def line_of(code: str, part: str) -> int:
    return (HEAD + code)[: (HEAD + code).index(part)].count("\n") + 1


ONE_WAY = """\
def build(fn):
    return tf.data.Dataset.range(9).map(fn)


if cfg["training"]["by_numpy"]:
    ds = build(slow)
"""


def test_the_call_that_gives_a_map_its_function_is_on_the_way(tmp_path: Path) -> None:
    (on,) = found(tmp_path, ONE_WAY, "on")
    assert on.state is State.ACTIVE
    assert [(step.line, step.label) for step in on.flow] == [
        (line_of(ONE_WAY, "build(slow)"), "calls build"),
        (line_of(ONE_WAY, ".map("), "map runs it for every element"),
    ]
    (off,) = found(tmp_path, ONE_WAY, "off")
    assert off.state is State.DORMANT
    assert any("cfg['training']['by_numpy']" in note for note in off.notes)
    (both,) = found(tmp_path, ONE_WAY, "on", "off")
    assert both.state is State.ACTIVE
    assert [note.split(" ")[0] for note in both.notes if "under" in note] == ["active", "dormant"]


TWICE = (
    ONE_WAY
    + """\
again = build(slow)
"""
)
TWO_MAPS = """\
ds = tf.data.Dataset.range(9)
if cfg["training"]["by_numpy"]:
    first = ds.map(slow)
again = ds.map(slow)
"""
BEHIND = """\
def load(x):
    return slow(x)


ds = tf.data.Dataset.range(9)
if cfg["training"]["by_numpy"]:
    first = ds.map(load)
again = ds.map(lambda x: load(x))
"""
HANDED_ON = """\
def inner(fn):
    return tf.data.Dataset.range(9).map(fn)


def outer(fn):
    return inner(fn)


if cfg["training"]["by_numpy"]:
    first = outer(slow)
again = outer(slow)
"""
VARIANTS = """\
def load(x, training):
    if training:
        x = x + 1
    return slow(x)


ds = tf.data.Dataset.range(9)
if cfg["training"]["by_numpy"]:
    first = ds.map(lambda x: load(x, True))
again = ds.map(lambda x: load(x, False))
"""


@pytest.mark.parametrize("code", [TWICE, TWO_MAPS, BEHIND, HANDED_ON, VARIANTS])
def test_another_way_that_takes_effect_decides_and_is_shown(tmp_path: Path, code: str) -> None:
    (on,) = found(tmp_path, code, "on")
    (off,) = found(tmp_path, code, "off")
    last = line_of(code, "again = ")
    assert (on.state, off.state) == (State.ACTIVE, State.ACTIVE)
    assert off.flow[0].line == last
    assert on.flow[0].line != last
    (both,) = found(tmp_path, code, "on", "off")
    assert not any("dormant" in note for note in both.notes)


def test_the_message_names_the_way_that_is_shown(tmp_path: Path) -> None:
    (off,) = found(tmp_path, TWO_MAPS, "off")
    assert f"map at line {line_of(TWO_MAPS, 'again = ')} calls slow" in off.message


def test_a_map_that_is_run_once_for_the_same_values_takes_effect_by_any_of_the_calls(tmp_path: Path) -> None:
    (off,) = found(tmp_path, TWICE, "off", rule="TFD005")
    assert off.state is State.ACTIVE
    assert [step.line for step in off.flow] == [line_of(TWICE, "again = ")]


PASSES_BY = """\
def load(x, training):
    if training:
        x = slow(x)
    return x


ds = tf.data.Dataset.range(9)
if cfg["training"]["by_numpy"]:
    first = ds.map(lambda x: load(x, True))
again = ds.map(lambda x: load(x, False))
"""


def test_a_way_that_passes_the_place_by_does_not_count(tmp_path: Path) -> None:
    (off,) = found(tmp_path, PASSES_BY, "off")
    assert off.state is State.DORMANT


OPPOSITE = """\
def build(fn, n):
    return tf.data.Dataset.range(n).map(fn)


if cfg["training"]["by_numpy"]:
    ds = build(slow, 9)
else:
    ds = build(slow, 99)
"""


def test_each_config_has_its_own_way(tmp_path: Path) -> None:
    (both,) = found(tmp_path, OPPOSITE, "on", "off")
    assert both.state is State.ACTIVE
    assert not any("under" in note for note in both.notes)
    (both,) = found(tmp_path, OPPOSITE, "on", "off", rule="TFD005")
    assert not any("under" in note for note in both.notes)


def test_functions_that_all_call_each_other_end_soon(tmp_path: Path) -> None:
    names = [f"f{number}" for number in range(30)]
    code = "".join(
        f"def {name}(x):\n" + "".join(f"    {other}(x)\n" for other in names) + "    return slow(x)\n\n\n"
        for name in names
    )
    code += "if cfg['training']['by_numpy']:\n    ds = tf.data.Dataset.range(9).map(f0)\n"
    (off,) = found(tmp_path, code, "off")
    assert off.state is State.DORMANT


LOCKED = """\
import threading
from concurrent.futures import ThreadPoolExecutor

lock = threading.Lock()


def read(path):
    with lock:
        return cv2.imread(path)


paths = ["a", "b"]
if cfg["training"]["by_numpy"]:
    with ThreadPoolExecutor(4) as pool:
        first = list(pool.map(read, paths))
with ThreadPoolExecutor(8) as pool:
    again = list(pool.map(read, paths))
"""


def test_a_second_pool_takes_turns_too(tmp_path: Path) -> None:
    (off,) = found(tmp_path, LOCKED, "off", rule="TFD042")
    assert off.state is State.ACTIVE
    assert f"thread pool at line {line_of(LOCKED, 'again = ')} runs read" in off.message
