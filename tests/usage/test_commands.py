"""The commands that scripts and Makefiles say."""

from pathlib import Path

from cfgfix.usage.commands import commands_in


def test_variables_of_a_makefile_are_put_in(tmp_path: Path) -> None:
    path = tmp_path / "Makefile"
    path.write_text(
        "PY ?= python3  # or another one\nPY ?= pypy\nCONF := configs\nOWN = $(CONF)/own.yaml\n\n"
        "run: data\n\tcd . && $(PY) train.py --config ${OWN} --seed $(SEED) --home $$HOME\n"
        "\t@echo $(PY) is used\n\t$(UNKNOWN) other.py\n",
        encoding="utf-8",
    )
    found = [(item.line, item.program, item.arguments) for item in commands_in(str(path))]
    assert found == [
        (7, "train.py", ("--config", "configs/own.yaml", "--seed", "\x00", "--home", "\x00")),
    ]


def test_variables_that_name_themselves_end(tmp_path: Path) -> None:
    path = tmp_path / "rules.mk"
    path.write_text(
        "A = $(A) $(A) $(B)\nB = $(A)$(A)\nrun:\n\tpython train.py $(A) $(B) x.yaml\n", encoding="utf-8"
    )
    (found,) = commands_in(str(path))
    assert found.program == "train.py"
    assert len(found.arguments) < 4_000
