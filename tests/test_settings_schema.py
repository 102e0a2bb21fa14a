from __future__ import annotations

import json
import re
import subprocess
import sys

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from cfgfix.errors import CfgfixError
from cfgfix.settings import build
from cfgfix.settings_schema import page, schema
from cfgfix.settings_table import NAMES, SETTINGS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RULES = jsonschema.Draft7Validator(schema())


def test_every_setting_is_told_and_no_other():
    assert list(schema()["properties"]) == list(NAMES)
    assert all(setting.help.endswith(".") for setting in SETTINGS)
    assert all(f"| `{name}` |" in page() for name in NAMES)
    jsonschema.Draft7Validator.check_schema(schema())


def test_what_is_published_is_current(repo_root):
    again = "run: python tools/settings.py"
    assert (repo_root / "docs" / "settings.md").read_text(encoding="utf-8") == page(), again
    assert json.loads((repo_root / "docs" / "settings.schema.json").read_text(encoding="utf-8")) == schema(
        names=False
    ), again


def test_the_tool_that_writes_them_has_nothing_to_do(repo_root):
    done = subprocess.run(
        [sys.executable, "tools/settings.py"], cwd=repo_root, capture_output=True, text=True, check=True
    )
    assert done.stdout == ""


def test_the_settings_of_the_readme_are_valid(repo_root):
    blocks = re.findall(
        r"```toml\n(.*?)```", (repo_root / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    tables = [table for block in blocks if (table := tomllib.loads(block).get("tool", {}).get("cfgfix"))]
    assert tables
    for table in tables:
        RULES.validate(table)


SOME = st.one_of(
    st.booleans(),
    st.integers(),
    st.sampled_from(
        ["YML001", "myxtts", "ruamel", "error", "never", "info", "x", "auto", "2.15", ">=2.16,<3"]
    ),
    st.lists(st.one_of(st.sampled_from(["YML", "*.yaml"]), st.integers()), max_size=2),
    st.dictionaries(
        st.sampled_from(["batch_size", "YML001", "default", "profiles", "x"]),
        st.one_of(
            st.sampled_from(["info", "error", "x", 3]),
            st.lists(st.just("x"), max_size=1),
            st.dictionaries(st.just("box"), st.sampled_from(["cpu", 1]), max_size=1),
        ),
        max_size=2,
    ),
)


@given(st.dictionaries(st.sampled_from([*NAMES, "hardwear"]), SOME, max_size=2))
def test_it_accepts_what_the_reader_accepts(table):
    """But for names that are looked up later: loaders, and concepts."""
    try:
        build(table, "cfgfix.toml")
    except CfgfixError:
        accepted = False
    else:
        accepted = True
    later = set(table) & {"loader", "keys"}
    if accepted and later:
        return
    assert RULES.is_valid(table) == accepted
