"""A file or program for TensorFlow 1 is told of once; an old name among new ones is told where it stands."""

from __future__ import annotations

import pytest

from cfgfix.lint.runner import Request, check
from cfgfix.settings.reader import Settings

NAMES = 12


@pytest.fixture
def found(tmp_path, monkeypatch):
    """Return a function that writes files, by name and text, and gives the findings about names of TensorFlow 1."""

    def run(**files):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("CFGFIX_CACHE_DIR", "")
        for name, text in files.items():
            path = tmp_path / (name.replace("__", "/") + (".txt" if name.endswith("requirements") else ".py"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        report = check(Request(paths=(".",), settings=Settings(root=str(tmp_path), hardware="none")))
        return [item for item in report.findings() if item.rule == "DEP010"]

    return run


def old(names, call="to_float"):
    return "import tensorflow as tf\n" + "".join(
        f"value_{number} = tf.{call}({number})\n" for number in range(names)
    )


NEW = "import tensorflow as tf\n\n@tf.function\ndef step(x):\n    return x\n"


def test_a_whole_program_of_tensorflow_1_is_one_finding(found):
    items = found(old=old(NAMES), older=old(2))
    assert [(item.location.path, item.location.line, item.severity.label) for item in items] == [
        ("old.py", 2, "info")
    ]
    assert (
        f"tf.to_float and {NAMES + 1} more places use what TensorFlow 2 does not have, in 2 files"
        in items[0].message
    )


def test_files_of_tensorflow_1_beside_newer_ones_are_one_finding_each(found):
    items = found(new=NEW, old=old(NAMES), older=old(3))
    assert [(item.location.path, item.severity.label) for item in items] == [
        ("old.py", "info"),
        ("older.py", "info"),
    ]
    assert f"written for TensorFlow 1: tf.to_float and {NAMES - 1} more places use" in items[0].message


def test_one_old_name_belongs_to_its_neighbours(found):
    session = "import tensorflow as tf\n\nsession = tf.Session()\n"
    items = found(new__a=NEW, new__b=old(1), first__a=session, first__b=old(1))
    assert [(item.location.path, item.severity.label) for item in items] == [
        ("first/a.py", "info"),
        ("first/b.py", "info"),
        ("new/b.py", "warning"),
    ]


def test_an_old_name_in_a_file_that_uses_tensorflow_2_is_an_error(found):
    items = found(new=NEW + "\nvalue = tf.to_float(1)\n")
    assert [item.severity.label for item in items] == ["error"]


def test_a_requirement_for_tensorflow_2_makes_a_few_names_an_error_each(found):
    items = found(old=old(3), requirements="tensorflow>=2.10\n")
    assert [item.severity.label for item in items] == ["error"] * 3


def test_a_requirement_for_tensorflow_2_makes_a_file_of_old_names_one_error(found):
    items = found(old=old(NAMES), new=NEW + old(NAMES), requirements="tensorflow>=2.10\n")
    told = [(item.location.path, item.location.line) for item in items if item.location.path == "old.py"]
    assert told == [("old.py", 2)]
    assert len(items) == 1 + NAMES
    assert {item.severity.label for item in items} == {"error"}
    assert any("requirements.txt asks for tensorflow>=2.10" in note for item in items for note in item.notes)


def test_a_folder_that_admits_tensorflow_1_is_told_so_whatever_the_root_asks_for(found):
    items = found(
        new=NEW,
        first__old=old(NAMES),
        first__requirements="tensorflow>=1.0\n",
        requirements="tensorflow>=2.10\n",
    )
    assert [(item.location.path, item.severity.label) for item in items] == [("first/old.py", "info")]


def test_a_requirement_for_tensorflow_1_leaves_nothing_to_say(found):
    assert found(old=old(NAMES), requirements="tensorflow<2\n") == []
