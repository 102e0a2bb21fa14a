"""The cache: an entry is read by the very cfgfix that wrote it, and by no other."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cfgfix.core import cache

PACKAGE = Path(__file__).resolve().parents[1] / "cfgfix"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = tmp_path / "cache"
    monkeypatch.setenv("CFGFIX_CACHE_DIR", str(place))
    return place


def test_an_entry_is_found_by_its_name_and_key(folder):
    cache.store("answer", ("a", 1), {"b": (1, 2)})
    assert cache.load("answer", ("a", 1)) == {"b": (1, 2)}
    assert cache.load("answer", ("a", 2)) is None
    assert cache.load("other", ("a", 1)) is None


def test_an_entry_of_another_cfgfix_is_not_read(folder, monkeypatch):
    cache.store("answer", 1, "old")
    monkeypatch.setattr(cache, "_MADE_BY", b"another")
    assert cache.load("answer", 1) is None
    cache.store("answer", 1, "new")
    assert cache.load("answer", 1) == "new"


def copy_of_the_package(tmp_path):
    """A package of the shape of cfgfix with nothing in it but the cache."""
    root = tmp_path / "elsewhere"
    (root / "cfgfix" / "core").mkdir(parents=True)
    (root / "cfgfix" / "usage").mkdir()
    (root / "cfgfix" / "__init__.py").write_text('__version__ = "1.0"\n', encoding="utf-8")
    (root / "cfgfix" / "core" / "__init__.py").write_text("", encoding="utf-8")
    shutil.copy(PACKAGE / "core" / "cache.py", root / "cfgfix" / "core")
    (root / "cfgfix" / "usage" / "reads.py").write_text("class Usage:\n    pass\n", encoding="utf-8")
    (root / "cfgfix" / "usage" / "table.json").write_text("{}", encoding="utf-8")
    return root


def say(root, folder, code):
    done = subprocess.run(
        [sys.executable, "-B", "-c", f"from cfgfix.core import cache; {code}"],
        env={**os.environ, "PYTHONPATH": str(root), "CFGFIX_CACHE_DIR": str(folder)},
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def renamed(root):
    (root / "cfgfix" / "usage" / "reads.py").write_text("class Usages:\n    pass\n", encoding="utf-8")


def another_version(root):
    (root / "cfgfix" / "__init__.py").write_text('__version__ = "1.1"\n', encoding="utf-8")
    # Archives of reproducible builds give every file the same time.
    os.utime(root / "cfgfix" / "__init__.py", ns=(1, 1))


def another_table(root):
    (root / "cfgfix" / "usage" / "table.json").write_text("[1, 2]", encoding="utf-8")


def a_module_more(root):
    (root / "cfgfix" / "usage" / "more.py").write_text("", encoding="utf-8")


@pytest.mark.parametrize("change", [renamed, another_version, another_table, a_module_more])
def test_no_entry_outlives_a_change_of_the_code(tmp_path, change):
    root, folder = copy_of_the_package(tmp_path), tmp_path / "cache"
    os.utime(root / "cfgfix" / "__init__.py", ns=(1, 1))
    say(root, folder, "cache.store('usage', 1, 'kept')")
    assert say(root, folder, "print(cache.load('usage', 1))") == "kept"
    change(root)
    assert say(root, folder, "print(cache.load('usage', 1))") == "None"


def test_what_is_no_code_makes_no_entry_stale(tmp_path):
    root, folder = copy_of_the_package(tmp_path), tmp_path / "cache"
    say(root, folder, "cache.store('usage', 1, 'kept')")
    (root / "cfgfix" / "usage" / "notes.txt").write_text("", encoding="utf-8")
    (root / "cfgfix" / "usage" / "__pycache__").mkdir()
    (root / "cfgfix" / "usage" / "__pycache__" / "reads.pyc").write_bytes(b"")
    assert say(root, folder, "print(cache.load('usage', 1))") == "kept"


def test_equal_questions_have_equal_keys():
    text, same = str(b"ab", "ascii"), str(b"ab", "ascii")
    assert cache.key_of((text, text, [1, 2])) == cache.key_of((text, same, [1, 2]))
    assert cache.key_of((1, 2)) != cache.key_of((1, 3))
    assert cache.name_of(["b", "a"]) == cache.name_of(["a", "b"]) != cache.name_of(["a"])


def test_no_version_of_cached_data_is_raised_by_hand():
    """Nothing is written to the cache folder but by the cache and by the store of summaries."""
    writers = sorted(
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if "marshal.dump" in path.read_text(encoding="utf-8")
    )
    assert writers == ["code/model/summary_cache.py", "core/cache.py"]
    tree = ast.parse((PACKAGE / "code" / "model" / "summary_cache.py").read_text(encoding="utf-8"))
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert "made_by" in names
