"""Modules that nothing runs, and switches where a run begins."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from cfgfix.code.inference import entry_points as running
from cfgfix.code.inference import reachability as reaching
from cfgfix.code.inference.entry_points import is_never_called, is_never_run, switched_by_entries
from cfgfix.code.inference.flow.flow import Flow
from cfgfix.code.model.program import Program
from cfgfix.code.model.python_files import find_python
from cfgfix.code.model.summary_cache import SummaryStore
from cfgfix.code.scan import ConfigFacts

MAIN = "import tensorflow as tf\nimport model\n\nfor batch in range(3):\n    model.step(batch)\n"
PLAIN = "import tensorflow as tf\n\ndef step(x):\n    return x\n"


def program_of(folder: Path, files: dict[str, str], only: set[str] | None = None) -> Program:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    found = find_python([str(folder)], lambda _path: False)
    kept = [file for file in found if only is None or Path(file.path).name in only]
    program = Program(
        kept, SummaryStore("none", [b"tensorflow"], enabled=False, writes=False), [b"tensorflow"]
    )
    program.scan()
    Flow(program).run()
    return program


def unused_in(program: Program) -> list[str]:
    return [Path(module.path).name for module in program.modules if is_never_run(program, module)]


def test_what_no_file_names_is_unused(tmp_path):
    files = {"main.py": MAIN, "model.py": PLAIN, "leftover.py": PLAIN}
    assert unused_in(program_of(tmp_path, files)) == ["leftover.py"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.py", "import leftover\n"),
        ("run.py", "from leftover import step\n"),
        ("run.py", "NAME = 'leftover'\n"),
        ("pack/__init__.py", "from .. import leftover\n"),
        ("note.ipynb", '{"cells": [{"cell_type": "code", "source": ["import leftover"]}], "nbformat": 4}'),
    ],
)
def test_a_mention_anywhere_is_enough(tmp_path, name, text):
    files = {"main.py": MAIN, "model.py": PLAIN, "leftover.py": PLAIN, name: text}
    assert unused_in(program_of(tmp_path, files)) == []


@pytest.mark.parametrize(
    "text",
    [
        "print(step(3))\n",
        "def main():\n    step(3)\n",
        "if __name__ == '__main__':\n    step(3)\n",
        "@register\ndef other(x):\n    return x\n",
        "result = build(3)\n",
        "while True:\n    break\n",
    ],
)
def test_what_may_be_run_by_itself_is_used(tmp_path, text):
    files = {"main.py": MAIN, "model.py": PLAIN, "leftover.py": PLAIN + text}
    assert unused_in(program_of(tmp_path, files)) == []


def test_setting_up_a_logger_runs_nothing(tmp_path):
    text = "import logging\nlog = logging.getLogger(__name__)\n" + PLAIN
    files = {"main.py": MAIN, "model.py": PLAIN, "leftover.py": text}
    assert unused_in(program_of(tmp_path, files)) == ["leftover.py"]


def test_a_library_is_for_others_to_import(tmp_path):
    files = {"lib/__init__.py": "from . import model\n", "lib/model.py": PLAIN, "lib/extra.py": PLAIN}
    assert unused_in(program_of(tmp_path, files)) == []
    assert unused_in(program_of(tmp_path, {"tests/test_model.py": MAIN})) == []


def test_files_of_one_commit_say_nothing(tmp_path):
    files = {"main.py": MAIN, "model.py": PLAIN, "leftover.py": PLAIN, "other.py": "import leftover\n"}
    program = program_of(tmp_path, files, only={"main.py", "model.py", "leftover.py"})
    assert unused_in(program) == []


def test_there_is_an_end_to_searching(tmp_path, monkeypatch):
    files = {"main.py": MAIN, "model.py": PLAIN, **{f"left{number}.py": PLAIN for number in range(4)}}
    assert len(unused_in(program_of(tmp_path, files))) == 4
    monkeypatch.setattr(running, "MAX_SEARCHED", 3)
    assert unused_in(program_of(tmp_path, files)) == []


def test_a_switch_counts_where_every_run_throws_it(tmp_path):
    files = {
        "agent.py": PLAIN,
        "one.py": "import tensorflow as tf\nimport agent\n\nprint(agent.step(1))\n",
        "two.py": "import tensorflow as tf\nfrom agent import step\n\nprint(step(1))\n",
    }
    program = program_of(tmp_path, files)
    named = {Path(module.path).stem: module for module in program.modules}
    agent, one, two = named["agent"], named["one"], named["two"]
    assert not switched_by_entries(program, agent, [(one, False)])
    assert switched_by_entries(program, agent, [(one, False), (two, False)])
    assert switched_by_entries(program, agent, [(agent, True)])
    assert not switched_by_entries(program, one, [(agent, False)])
    assert switched_by_entries(program, one, [(agent, True)])


def test_modules_that_import_one_another_begin_nowhere(tmp_path):
    files = {"a.py": "import tensorflow as tf\nimport b\n", "b.py": "import tensorflow as tf\nimport a\n"}
    program = program_of(tmp_path, files)
    assert not any(switched_by_entries(program, module, [(module, True)]) for module in program.modules)


HELPERS = (
    "import tensorflow as tf\n\ndef step(x):\n    return inner(x)\n\ndef inner(x):\n    return x\n\n"
    "def left(x):\n    return last(x)\n\ndef last(x):\n    return x\n"
)
RUNS = "import tensorflow as tf\nimport helpers\n\nprint(helpers.step(1))\n"


@pytest.fixture(params=["one by one", "all together"])
def searched(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of finding what names lead to; they give the same answer."""
    monkeypatch.setattr(reaching, "MAX_SEARCHED", 0 if request.param == "all together" else 1000)


def left_in(program: Program) -> list[str]:
    return [
        scope.name
        for module in program.modules
        for scope in module.summary.scopes
        if scope.kind in ("function", "class") and scope.parent == 0 and is_never_called(program, scope)
    ]


@pytest.mark.usefixtures("searched")
def test_what_is_named_by_nothing_that_runs_is_left(tmp_path: Path) -> None:
    assert left_in(program_of(tmp_path, {"main.py": RUNS, "helpers.py": HELPERS})) == ["left", "last"]


@pytest.mark.usefixtures("searched")
@pytest.mark.parametrize(
    "text",
    [
        "from helpers import left as begin\nbegin(1)\n",
        "from helpers import *\nleft(1)\n",
        "import helpers\ngetattr(helpers, 'left')(1)\n",
        "import helpers\nrun = 'helpers:left'\n",
        "import tensorflow as tf\nimport helpers\n\nclass Model(tf.Module):\n    begin = helpers.left\n\nModel()\n",
        "import helpers\nfrom registry import register\n\n@register\ndef f(x):\n    return helpers.left(x)\n",
        "import tensorflow as tf\nimport helpers\n\ndef f(x, begin=helpers.left):\n    return x\n\nf(1)\n",
    ],
)
def test_the_ways_of_naming(tmp_path: Path, text: str) -> None:
    files = {"main.py": RUNS, "helpers.py": HELPERS, "other.py": text}
    assert left_in(program_of(tmp_path, files)) == []


@pytest.mark.usefixtures("searched")
@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\nfrom helpers import left\n\nprint(1)\n",
        "import tensorflow as tf\n\nleft = 3\nprint(left)\n",
        "import tensorflow as tf\n\nprint('what is left', 'plot.left.pdf.')\n",
        "import tensorflow as tf\nimport helpers\n\ndef unused(x):\n    return helpers.left(x)\n\nprint(1)\n",
    ],
)
def test_what_names_nothing(tmp_path: Path, text: str) -> None:
    files = {"main.py": RUNS, "helpers.py": HELPERS, "other.py": text}
    assert set(left_in(program_of(tmp_path, files))) == {
        "left",
        "last",
        *({"unused"} if "unused" in text else ()),
    }


@pytest.mark.usefixtures("searched")
def test_modules_that_nothing_imports_run_nothing(tmp_path: Path) -> None:
    files = {
        "main.py": RUNS,
        "helpers.py": HELPERS,
        "dead.py": "import tensorflow as tf\nimport helpers\n\nSTEP = helpers.left\n",
    }
    assert left_in(program_of(tmp_path, files)) == ["left", "last"]
    files["more.py"] = "import dead\n"
    assert left_in(program_of(tmp_path, files)) == []


@pytest.mark.usefixtures("searched")
def test_tests_and_packages_are_found_by_others(tmp_path: Path) -> None:
    test = "import tensorflow as tf\n\ndef test_step():\n    assert tf.constant(1)\n"
    assert left_in(
        program_of(tmp_path / "one", {"main.py": RUNS, "helpers.py": HELPERS, "test_it.py": test})
    ) == [
        "left",
        "last",
    ]
    files = {
        "setup.py": "from setuptools import setup\nsetup(name='x')\n",
        "pack/__init__.py": "",
        "pack/helpers.py": HELPERS,
        "examples/main.py": "import tensorflow as tf\nimport helpers\n\ndef unused(x):\n    return x\n\nprint(tf)\n",
        "examples/helpers.py": HELPERS,
    }
    program = program_of(tmp_path / "two", files)
    left = {
        f"{Path(scope.module.path).parent.name}/{scope.name}"
        for module in program.modules
        for scope in module.summary.scopes
        if scope.kind == "function" and is_never_called(program, scope)
    }
    assert left == {f"examples/{name}" for name in ("unused", "step", "inner", "left", "last")}


@pytest.mark.usefixtures("searched")
def test_what_a_config_names_may_be_looked_up(tmp_path: Path) -> None:
    for leaf in ("left", "helpers.left", ["other", "left"]):
        program = program_of(tmp_path, {"main.py": RUNS, "helpers.py": HELPERS})
        program.configs = (ConfigFacts("a.yaml", {("model", "name"): leaf, ("about",): "what is left"}),)
        assert left_in(program) == []


def test_a_function_inside_another_is_named_there_or_nowhere(tmp_path: Path) -> None:
    text = (
        "import tensorflow as tf\n\ndef build(x):\n    def left(y):\n        return left(y)\n\n"
        "    def used(y):\n        return y\n\n    def below(y):\n        return lambda: kept(y)\n\n"
        "    def kept(y):\n        return y\n\n    return used(below(x))\n\n"
        "def shown(x):\n    def one(y):\n        return y\n\n    return locals()\n"
    )
    program = program_of(tmp_path, {"lib.py": text})
    found = {
        scope.qualname
        for module in program.modules
        for scope in module.summary.scopes
        if scope.kind == "function" and is_never_called(program, scope)
    }
    assert found == {"build.left"}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("test_model.py", "model = tf.keras.models.load_model('net.keras')\nfor x in range(3):\n    model(x)\n", False),
        ("test_model.py", "from net import make\n\n\ndef test_step():\n    assert make()\n", True),
        ("test_model.py", "from net import make\n\n\ndef test_step(x):\n    return make(x)\n\n\nif __name__ == '__main__':\n    test_step(1)\n", False),
        ("net_test.py", "class NetTest(tf.test.TestCase):\n    def test_it(self):\n        pass\n\n\nif __name__ == '__main__':\n    tf.test.main()\n", True),
        ("loader_test.py", "from tools.testing import base\n\n\nclass LoaderTest(base.TestCase):\n    pass\n\n\nif __name__ == '__main__':\n    base.main()\n", True),
        ("test_loader.py", "import unittest\nimport loader\n\nunittest.main()\n", True),
        ("test_dataset.py", "class TestDataset:\n    def create(self):\n        return 1\n", False),
        ("test_dataset.py", "class TestDataset:\n    def test_size(self):\n        assert 1\n", True),
        ("test_data.py", "class Reader:\n    def create(self):\n        return 1\n", False),
        ("tests/data.py", "def create():\n    return 1\n", True),
        ("conftest.py", "def create():\n    return 1\n", True),
        ("latest_data.py", "def test_it():\n    return 1\n", False),
    ],
)  # fmt: skip
def test_a_test_is_known_by_its_folder_or_by_its_name_and_content(
    tmp_path: Path, name: str, text: str, expected: bool
) -> None:
    program = program_of(tmp_path, {name: f"import tensorflow as tf\n{text}"})
    assert [running.is_test(module) for module in program.modules] == [expected]
