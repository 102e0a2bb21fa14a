"""What `.gitignore` files leave out: asking the library only where a pattern may fit changes no answer."""

from __future__ import annotations

import os

import pathspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgfix.code.model.python_files import _IgnoreFile

PART = st.sampled_from(
    [
        "build",
        "data",
        "a.py",
        "train.py",
        "x1",
        "__pycache__",
        "out.egg-info",
        "[a]",
        "*",
        ".hidden",
        "#a#",
        ".#a",
        "!a.py",
    ]
)
PATTERN = st.one_of(
    st.sampled_from(
        [
            "build/",
            "/build",
            "*.py",
            "*.py[cod]",
            "**/data/*.py",
            "data/**",
            "**",
            "!train.py",
            "x?",
            "x[0-9]",
            "[!a]*.py",
            "[^a]*.py",
            "*.egg-info/",
            "da*/",
            "*.hidden",
            "/data",
            "data/x1",
            "/x*/",
            "data/*",
            "data/*/a.py",
            "*/build/",
            "data/**/x1",
            "/**/data",
            "data/x1/build",
            "/\\#a\\#",
            "data/\\!a.py",
            "**/build",
            "__*",
            "data/a.py ",
            "\\!a.py",
            "\\#*\\#",
            ".\\#*",
            "\\*",
            "a\\.py",
            "x[\\a1]",
            "tra*.py",
            "[a",
            "data/[a/b]",
            "[[:alpha:]]*",
            " build",
            "/",
        ]
    ),
    st.text("ab*?[]!/.\\ x1#", min_size=1, max_size=8),
)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # the library's own, about nested sets
@given(st.lists(PATTERN, min_size=1, max_size=5), st.lists(PART, min_size=1, max_size=4), st.booleans())
def test_the_quick_look_never_hides_a_match(patterns: list[str], parts: list[str], folder: bool) -> None:
    lines = [line for line in patterns if line.strip() and not line.startswith("#")]
    if not lines:
        return
    path = os.path.join("project", *parts)
    inner = "/".join(parts) + ("/" if folder else "")
    try:
        expected = bool(pathspec.GitIgnoreSpec.from_lines(lines).match_file(inner))
    except ValueError:
        expected = False
    assert _IgnoreFile("project", lines).matches(path, folder=folder) is expected


@pytest.mark.parametrize("pattern", ["*.log", "docs/", "/nothing.py", "!kept.py"])
def test_a_pattern_that_fits_nothing_asks_no_library(pattern: str) -> None:
    ignore = _IgnoreFile("project", [pattern])
    assert not ignore.matches(os.path.join("project", "model", "train.py"), folder=False)
    assert ignore._spec is None
