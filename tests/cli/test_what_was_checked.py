"""What is said of files that no code is known to open: never "no findings" where nothing was checked."""

from __future__ import annotations

import pytest

PROGRAM = """
import sys, yaml
import tensorflow as tf

def main(path):
    with open(path) as stream:
        sea = yaml.safe_load(stream)
    tf.keras.layers.Dense(sea["waves"])
    tf.keras.optimizers.Adam(sea["wind"])
    tf.constant(sea["foam"])

if __name__ == "__main__":
    main(sys.argv[1])
"""


@pytest.fixture
def sea(tmp_path):
    (tmp_path / "swim.py").write_text(PROGRAM)
    (tmp_path / "north.yaml").write_text("waves: 3\nwind: 0.1\nfoam: 2\n")
    (tmp_path / "south.yaml").write_text("waves: 3\nwind: 0.1\nfoam: 2\n")
    (tmp_path / "harbour.yaml").write_text("ships: 3\nfoam: 2\ncranes: 1\nfish: 2\n")
    return tmp_path


def test_the_closing_lines_count_configs_by_what_tells_them(cfgfix, sea):
    (sea / "old.yaml").write_text("train:\n  batch_size: 8\n  epochs: 3\n  learning_rate: 0.1\n")
    out = cfgfix("check", cwd=sea).out
    assert "in 3 configs (2 opened by swim.py, 1 known by its keys)" in out
    assert (
        "1 YAML file is read by no code that could be followed: --show-skipped tells what is lacking" in out
    )


def test_show_skipped_says_what_was_found_and_what_is_lacking(cfgfix, sea):
    out = cfgfix("check", "--show-skipped", cwd=sea).out
    line = next(line for line in out.splitlines() if "harbour.yaml" in line)
    assert "swim.py:7" in line
    assert "reads 3 keys" in line
    assert "1 of them (`foam`)" in line
    assert "command that names the file" in line


def test_a_file_that_is_named_alone_is_told_why_it_is_not_judged(cfgfix, sea):
    out = cfgfix("check", "harbour.yaml", cwd=sea).out
    assert "passed over harbour.yaml" in out
    assert "swim.py:7" in out
    assert "no findings" not in out


def test_a_file_that_only_unreached_code_names(cfgfix, sea):
    (sea / "swim.py").write_text(
        PROGRAM.replace("main(sys.argv[1])", 'main("north.yaml")')
        + "\ndef never(kind):\n    return kind.read('data/harbour.yaml')\n"
    )
    out = cfgfix("check", "--show-skipped", cwd=sea).out
    line = next(line for line in out.splitlines() if "harbour.yaml" in line)
    assert "swim.py:" in line
    assert "names it" in line


def test_a_project_without_programs_of_tensorflow(cfgfix, sea):
    (sea / "swim.py").write_text(PROGRAM.replace("import tensorflow as tf", "import numpy as tf"))
    out = cfgfix("check", "--show-skipped", cwd=sea).out
    line = next(line for line in out.splitlines() if "harbour.yaml" in line)
    assert "no program here that loads a file comes to TensorFlow" in line


def test_files_of_other_tools_are_not_counted(cfgfix, sea):
    (sea / "harbour.yaml").unlink()
    (sea / "docker-compose.yaml").write_text("services:\n  web:\n    image: nginx\n")
    out = cfgfix("check", cwd=sea).out
    assert "read by no code" not in out
    assert "1 other file passed over" in out


def test_a_folder_of_configs_is_read_by_the_programs_beside_it(cfgfix, sea):
    (sea / "plans").mkdir()
    (sea / "plans" / "east.yaml").write_text("waves: 3\nwind: 0.1\nfoam: 2\nsalt: 1\n")
    out = cfgfix("check", "plans", cwd=sea).out
    assert "plans/east.yaml:4" in out
    assert "1 opened by swim.py" in out


def test_rules_that_are_skipped_for_one_reason_are_one_line(cfgfix, sea):
    out = cfgfix(
        "check", "--show-skipped", "harbour.yaml", "--dialect", "generic", "--force-dialect", cwd=sea
    ).out
    assert len([line for line in out.splitlines() if line.startswith("skipped REF")]) <= 1
