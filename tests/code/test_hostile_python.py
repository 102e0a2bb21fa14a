"""Python that is made to break a reader ends in one finding, or in none; never in an error of cfgfix."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from cfgfix.code.model.program import Program
from cfgfix.code.model.python_files import decode
from cfgfix.code.model.summarise import summarise
from cfgfix.code.model.summary import MAX_BYTES
from cfgfix.lint.runner import Request, check
from cfgfix.settings.reader import Settings

HEAD = "import tensorflow as tf\nds = tf.data.Dataset.range(3).map(abs)\n"


def found(folder: Path, name: str, content: str | bytes) -> list[tuple[str, str]]:
    data = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(data)
    report = check(Request(paths=(str(folder),), settings=Settings(root=str(folder))))
    assert not report.errors
    return [(item.rule, item.message) for item in report.findings()]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "x = " + "(" * 5000 + ")" * 5000,
        HEAD + "x = " + "-" * 200_000 + "1",
        HEAD + "x = " + "[" * 150 + "]" * 150,
        HEAD + "x = " + "+".join(["1"] * 50_000),
        HEAD + "x = a" + ".b" * 50_000,
        HEAD + "x = a" + "()" * 20_000,
        HEAD + "x = a" + "[0]" * 20_000,
        HEAD + "\n".join("    " * depth + "if x:" for depth in range(99)) + "\n" + "    " * 99 + "pass\n",
        HEAD + "x = " + "lambda: " * 5_000 + "1",
        HEAD + "x = " + "not " * 100_000 + "1",
        HEAD + "x = " + " if a else ".join(["b"] * 20_000),
        HEAD + "x = f'" + "{a}" * 20_000 + "'",
        HEAD + "".join(f"if a{n}:\n    ds = ds.batch({n})\n" for n in range(800)),
        HEAD + "def f():\n    return f()\n" * 300 + "f()\n",
    ],
    ids=range(14),
)
def test_nesting_and_length(tmp_path: Path, text: str) -> None:
    for rule, message in found(tmp_path, "a.py", text):
        assert rule != "SRC001" or "nest" in message or "not Python" in message or "not be read" in message


def test_a_file_that_does_not_parse_is_told_once(tmp_path: Path) -> None:
    rules = [
        rule for rule, _ in found(tmp_path, "a.py", "import tensorflow as tf\ntf.data.Dataset.range(3\n")
    ]
    assert rules == ["SRC001"]


def test_nul_characters(tmp_path: Path) -> None:
    assert [rule for rule, _ in found(tmp_path, "a.py", HEAD + "x = '\0'\n")] == ["SRC001"]


def test_fifty_megabytes_of_literals_are_not_parsed(tmp_path: Path) -> None:
    data = b"import tensorflow as tf\nDATA = [" + b"1234567, " * (50 * 1024 * 1024 // 9) + b"]\n"
    assert [(rule, "larger" in message) for rule, message in found(tmp_path, "a.py", data)] == [
        ("SRC001", True)
    ]


def test_a_large_table_within_the_limit_is_read(tmp_path: Path) -> None:
    text = HEAD + "DATA = [" + "12345, " * 200_000 + "]\n" + "tf.config.optimizer.set_jit('on')\n"
    assert len(text) < MAX_BYTES
    assert "DEP014" in [rule for rule, _ in found(tmp_path, "a.py", text)]


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe" + HEAD.encode("utf-16-le"),
        b"# -*- coding: rot13 -*-\nimport tensorflow",
        b"\x80\x81tensorflow .map(",
    ],
)
def test_other_encodings(tmp_path: Path, data: bytes) -> None:
    assert all(rule == "SRC001" for rule, _ in found(tmp_path, "a.py", data))


def test_a_cycle_of_imports_and_of_classes(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text(
        "from a import *\nimport tensorflow as tf\nclass B(A): pass\n", encoding="utf-8"
    )
    found(
        tmp_path,
        "a.py",
        "from b import *\nimport tensorflow as tf\nclass A(B): pass\nclass C(C): pass\nds = make(ds)\nds.map(ds)\n",
    )


def test_modules_that_import_everything_from_one_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0
    inner = Program._member

    def counted(*args: Any) -> Any:
        nonlocal looked
        looked += 1
        return inner(*args)

    monkeypatch.setattr(Program, "_member", counted)
    package = tmp_path / "net"
    package.mkdir()
    count = 25
    names = [f"part{number}" for number in range(count)]
    stars = "".join(f"from .{name} import *\n" for name in names)
    (package / "__init__.py").write_text("import tensorflow as tf\n" + stars)
    for number, name in enumerate(names):
        (package / f"{name}.py").write_text(
            f"from net import *\n{stars}"
            f"def build{number}(files):\n    ds = make(files)\n    ds = tf.data.TFRecordDataset(files).map(decode)\n"
            f"    return other.thing.missing(ds), build{(number + 1) % count}(files)\n"
        )
    text = "from net import *\n" + HEAD + "build0([])\n"
    assert "SRC001" not in {rule for rule, _ in found(tmp_path, "main.py", text)}
    # Without a memory of what was looked through, each name would go as many ways as the circle has.
    assert looked < 1000 * count * count


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"cells": 3}',
        '{"cells": [{"cell_type": "code", "source": [1, null, "import tensorflow as tf"]}]}',
        "[" * 100_000,
        "\0",
    ],
)
def test_notebooks_that_are_none(tmp_path: Path, content: str) -> None:
    found(tmp_path, "a.ipynb", content + "  tensorflow .map(")


def test_a_broken_cell_hides_no_other(tmp_path: Path) -> None:
    cells = [
        "import tensorflow as tf",
        "def (:",
        "!pip install x\n%matplotlib inline\ntf.config.optimizer.set_jit('on')",
    ]
    notebook = json.dumps({"cells": [{"cell_type": "code", "source": [text]} for text in cells]})
    assert [rule for rule, _ in found(tmp_path, "a.ipynb", notebook)] == ["DEP014"]
    assert not isinstance(decode(notebook.encode(), "a.ipynb"), str)


def test_the_code_is_never_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    found(
        tmp_path, "a.py", f"import tensorflow as tf\nopen({str(mark)!r}, 'w').close()\nraise SystemExit(3)\n"
    )
    assert not mark.exists()


def test_summaries_never_raise() -> None:
    for text in (
        "",
        "\f",
        "\ufeff",
        "x = '\udc80'",
        "def",
        "\\",
        "a = 1\\",
        "if x:\n\ty\n        z",
        "async def f(): await",
        "match x:\n  case _: pass",
    ):
        summarise(text)


@pytest.mark.parametrize(
    "text",
    [
        "@given(f)\ndef f():\n    pass\n",
        "@given(a)\ndef b():\n    pass\n@given(b)\ndef a():\n    pass\n",
        "@given(C.f)\nclass C:\n    @given(C)\n    def f(self):\n        pass\n",
    ],
    ids=["itself", "each other", "a class and its method"],
)
def test_a_decorator_that_names_what_it_decorates(tmp_path: Path, text: str) -> None:
    found(tmp_path, "a.py", "from somewhere import given\n" + HEAD + text)


MANY = {
    "functions": lambda number: "".join(f"def f{n}():\n    pass\n" for n in range(number)),
    "datasets": lambda number: "".join(f"d{n} = tf.data.Dataset.range({n}).map(abs)\n" for n in range(number)),
    "loops over names": lambda number: "".join(f"for x{n} in range({n}):\n    print(x{n})\n" for n in range(number)),
    "models": lambda number: "".join(f"m{n} = tf.keras.Sequential([tf.keras.layers.Dense({n + 1})])\n" for n in range(number)),
    "classes": lambda number: "".join(f"class C{n}(tf.keras.Model):\n    def call(self, x):\n        return x\n" for n in range(number)),
    "trainings": lambda number: "".join(
        f"m{n} = tf.keras.Sequential([tf.keras.layers.Dense(2)])\nm{n}.compile('adam', 'mse')\nm{n}.fit(x{n}, y{n}, callbacks=[])\n"
        f"m{n}.trainable = False\nm{n}.fit(x{n}, y{n})\nr{n} = m{n}.evaluate(x{n}, y{n})\n"
        for n in range(number // 4)
    ),
    "trainings of one model": lambda number: "m = tf.keras.Sequential([tf.keras.layers.Dense(2)])\n" + "".join(
        f"m.compile('adam', 'mse')\nm.fit(x{n}, y{n}, callbacks=[tf.keras.callbacks.EarlyStopping('loss')])\n"
        for n in range(number // 4)
    ),
    "tapes": lambda number: "o = tf.keras.optimizers.Adam()\nm = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n" + "".join(
        f"for x{n} in range(9):\n    with tf.GradientTape() as t{n}:\n        l{n} = tf.reduce_mean(m(x{n}))\n"
        f"    g{n} = t{n}.gradient(l{n}, m.trainable_variables)\n    o.apply_gradients(zip(g{n}, m.trainable_variables))\n"
        for n in range(number // 4)
    ),
    "a chain of questions": lambda number: "kind = input()\nif kind == 0:\n    o = tf.keras.optimizers.Adam(lr=1)\n" + "".join(
        f"elif kind == {n + 1}:\n    o = tf.keras.optimizers.SGD({n + 1}, lr={n})\n" for n in range(number // 4)
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", MANY.values(), ids=MANY)
def test_a_module_of_many_parts_is_judged_in_time(tmp_path, text):
    counts = []
    for number in (150, 600):
        folder = tmp_path / str(number)
        folder.mkdir()
        count = 0

        def note(_frame, event, _argument):
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(note)
        try:
            found(folder, "train.py", HEAD + text(number))
        finally:
            sys.setprofile(None)
        counts.append(count)
    assert counts[1] < 7 * counts[0]
