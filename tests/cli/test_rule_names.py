"""What a rule names must exist: a misspelt concept or operand would make a rule that never finds anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from cfgfix.config.dialects.dialect import dialects
from cfgfix.core.errors import CfgfixError
from cfgfix.lint.runner import Request, check
from cfgfix.rules import catalogue as load
from cfgfix.rules.reader import read_rule
from cfgfix.settings.project_dialects import names_for_rules
from cfgfix.settings.reader import Settings

PARTS = {
    "at": "at: workers",
    "let": "let: {most: floor(hardware.cpu.usable)}",
    "when": "when: workers > most and has(batch_size)",
    "message": 'message: "{key} is {workers}"',
    "related": 'related: [{at: batch_size, label: "{batch_size} samples"}]',
    "fix": "fix: {set: workers, to: most, safety: unsafe, title: 'Use {most}', why: x}",
}
CASES = "cases: [{name: a, config: 'data: {num_workers: 64}', finds: [data.num_workers]}, {name: b, config: 'data: {}', finds: []}]"
HEAD = "id: OWN001\nname: own-rule\nsummary: s\nseverity: warning\nwhy: w\nevidence: [{source: s, says: s}]\n"


def write(folder: Path, **parts: str) -> str:
    """Write a rule file with some parts replaced and return its path."""
    path = folder / "own" / "OWN001.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(HEAD + "\n".join([*{**PARTS, **parts}.values(), CASES]) + "\n")
    return str(path)


def run(folder: Path, **settings):
    """Check nothing with the rules of a folder."""
    request = Request(
        settings=Settings(root=str(folder), rules=("own",), hardware="rtx4090,cpus=8", **settings),
        stdin=b"data: {num_workers: 64, batch_size: 8}\n",
        stdin_name="c.yaml",
    )
    return check(request)


@pytest.fixture(autouse=True)
def beside_no_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_rule_whose_names_exist_is_accepted(tmp_path):
    write(tmp_path)
    run(tmp_path)


@pytest.mark.parametrize(
    ("part", "text", "wrong", "meant"),
    [
        ("at", "at: wrokers", "wrokers", "workers"),
        ("at", "at: [workers, batch_sze]", "batch_sze", "batch_size"),
        ("at", "each: {concept: [wrokers]}", "wrokers", "workers"),
        ("let", "let: {most: floor(hardware.cpu.usabel)}", "hardware.cpu.usabel", "hardware.cpu.usable"),
        ("when", "when: wrokers > most", "wrokers", "workers"),
        ("when", "when: workers > most and has(batch_sze)", "batch_sze", "batch_size"),
        ("when", "when: workers > default(batch_sze, 1)", "batch_sze", "batch_size"),
        ("message", "message: '{key} is {wrokers}'", "wrokers", "workers"),
        ("related", "related: [{at: batch_sze, label: x}]", "batch_sze", "batch_size"),
        ("related", "related: [{at: batch_size, label: '{batch_sze}'}]", "batch_sze", "batch_size"),
        ("fix", "fix: {set: wrokers, to: most, safety: unsafe, title: t, why: x}", "wrokers", "workers"),
        ("fix", "fix: {delete: batch_sze, safety: unsafe, title: t, why: x}", "batch_sze", "batch_size"),
        ("fix", "fix: {set: workers, to: moast, safety: unsafe, title: t, why: x}", "moast", "most"),
        ("fix", "fix: {set: workers, to: 1, safety: unsafe, title: '{moast}', why: x}", "moast", "most"),
    ],
)
def test_a_misspelt_name_is_an_error_at_its_line(tmp_path, part, text, wrong, meant):
    path = write(tmp_path, **{part: text})
    with pytest.raises(CfgfixError) as caught:
        run(tmp_path)
    line = next(at for at, row in enumerate(Path(path).read_text().splitlines(), 1) if wrong in row)
    assert (caught.value.path, caught.value.line) == (path, line)
    assert repr(wrong) in caught.value.message
    assert caught.value.hint == f"did you mean {meant!r}?"


def test_a_name_of_an_own_dialect_exists(tmp_path):
    dialect = tmp_path / "dialects" / "ours" / "dialect.yaml"
    dialect.parent.mkdir(parents=True)
    dialect.write_text(
        "name: ours\ntitle: Ours\ndetect: {any: [a.b]}\nconcepts: {own_number: a.b}\nfacts: {own_fact: 3}\n"
    )
    write(tmp_path, at="at: own_number", when="when: own_number > own_fact")
    with pytest.raises(CfgfixError, match="own_number"):
        run(tmp_path)
    run(tmp_path, dialects=("dialects",))


def test_the_command_that_runs_cases_refuses_it_too(cfgfix, tmp_path):
    write(tmp_path, at="at: wrokers")
    result = cfgfix("rules", "test", "own")
    assert result.code == 2
    assert "wrokers" in result.err
    assert "did you mean 'workers'?" in result.err


def test_the_cases_of_one_file_run(cfgfix, tmp_path):
    write(tmp_path)
    named = next((tmp_path / "own").glob("*.yaml"))
    other = named.with_name("TEAM900-another.yaml")
    other.write_text(named.read_text().replace("id: ", "id: X", 1).replace("own-rule", "another-rule"))
    alone = cfgfix("rules", "test", str(named))
    assert alone.out.strip().endswith("1 passed, 1 failed")
    assert "XOWN001" not in alone.out
    assert cfgfix("rules", "test", "own").out.strip().endswith("2 passed, 2 failed")


def test_the_rules_that_ship_name_what_exists(repo_root):
    known = names_for_rules(dialects().values())
    for path in sorted((repo_root / "rules").rglob("*.yaml")):
        load._render_rule(str(path), path.name, read_rule(str(path)), known)
