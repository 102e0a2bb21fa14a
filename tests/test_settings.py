from __future__ import annotations

import pytest

from cfgfix.core.errors import CfgfixError
from cfgfix.settings.reader import Settings, discover, read


def test_defaults_without_a_file(tmp_path):
    (tmp_path / ".git").mkdir()
    settings = discover(str(tmp_path))
    assert settings.origin is None
    assert settings.fail_on == "warning"


def test_nearest_file_wins(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.cfgfix]\nfail-on = 'error'\n")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert discover(str(below)).fail_on == "error"
    (tmp_path / "a" / "cfgfix.toml").write_text("fail-on = 'info'\n")
    assert discover(str(below)).fail_on == "info"


def test_a_project_file_without_our_table_is_passed(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.other]\nx = 1 # cfgfix\n")
    assert read(str(tmp_path / "pyproject.toml")) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hardwear = 'x'", ["hardwear", "did you mean 'hardware'"]),
        ("select = 3", ["select", "list"]),
        ("preview = 'yes'", ["preview", "true or false"]),
        ("fail-on = 'never-ever'", ["fail-on", "never"]),
        ("keys = 3", ["keys", "table"]),
        ("severity = {YML001 = 'fatal'}", ["severity.YML001", "error"]),
        ("x = ", ["TOML"]),
    ],
)
def test_mistakes_are_told(tmp_path, text, words):
    path = tmp_path / "cfgfix.toml"
    path.write_text(text)
    with pytest.raises(CfgfixError) as caught:
        read(str(path))
    for word in words:
        assert word in str(caught.value)


def test_every_setting_is_read(tmp_path):
    path = tmp_path / "cfgfix.toml"
    (tmp_path / "src").mkdir()
    path.write_text(
        "include = ['*.yml']\nexclude = 'old'\nsource-roots = ['src']\nschema = 's.json'\ndialect = 'myxtts'\nloader = 'ruamel'\n"
        "hardware = 'rtx4090'\nselect = ['YML']\nignore = ['YML002']\nextend-select = ['CFG']\nfail-on = 'info'\nmin-severity = 'error'\npreview = true\nrules = ['r']\ndialects = ['d']\nunknown-keys = 'fatal'\n"
        "show-skipped = true\nforce-exclude = true\ntensorflow = '2.15'\n[keys]\nbatch_size = 'a.b'\n[per-file-ignores]\n'x/*.yaml' = ['YML']\n[severity]\nYML001 = 'info'\n"
    )
    settings = read(str(path))
    assert settings is not None
    changed = [name for name in Settings.__slots__ if getattr(settings, name) != getattr(Settings(), name)]
    assert set(changed) == set(Settings.__slots__) - {"profiles", "command_hardware"}


@pytest.mark.parametrize(
    ("root", "words"),
    [
        ("scr", ["'scr' does not exist", "did you mean 'src'?"]),
        ("lib/python", ["'lib/python' does not exist", "name the folders"]),
        ("src/a.py", ["'src/a.py' is no folder"]),
    ],
)
def test_a_source_root_that_is_no_folder_is_told(tmp_path, root, words):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("")
    path = tmp_path / "cfgfix.toml"
    path.write_text(f"source-roots = ['src', '.', '{root}']\n")
    with pytest.raises(CfgfixError) as caught:
        read(str(path))
    assert caught.value.path == str(path)
    assert all(word in str(caught.value) for word in words)


def test_machines_by_name(tmp_path):
    path = tmp_path / "cfgfix.toml"
    path.write_text(
        "[hardware]\ndefault = 'rtx4090'\n[hardware.profiles]\nbox = 'rtx4090x2,cpus=16'\nci = 'cpu,cpus=4'\n"
    )
    settings = read(str(path))
    assert settings is not None
    assert settings.hardware == "rtx4090"
    assert settings.profiles == {"box": "rtx4090x2,cpus=16", "ci": "cpu,cpus=4"}


@pytest.mark.parametrize(
    "text", ["[hardware]\nprofile = 'x'\n", "[hardware]\nprofiles = 3\n", "[hardware]\ndefault = 3\n"]
)
def test_a_wrong_machine_table_is_told(tmp_path, text):
    path = tmp_path / "cfgfix.toml"
    path.write_text(text)
    with pytest.raises(CfgfixError, match="hardware"):
        read(str(path))
