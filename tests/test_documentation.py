"""Every command the documentation shows runs and prints what is shown; every page that is made is whole; the site builds."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import click
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import docs_commands
import make_docs

from cfgfix.cli.app import cli

PAGES = [path.relative_to(ROOT).as_posix() for path in docs_commands.pages()]

NOT_RUN = {
    "python3 -m venv *": "installs; the whole check runs README's test command and installs both distributions",
}
"""Commands that are shown and not run here, each with the reason; `*` stands for any text."""

SILENT = re.compile(r" (-o|>) |^eval ")
"""Commands that print nothing."""

THEIR_OWN = {
    "mypkg/__init__.py": "",
    "mypkg/data.py": """
import tensorflow as tf


def make(config=None):
    data = (config or {}).get("data", {})
    rows = tf.data.Dataset.range(64).repeat()
    rows = rows.map(
        lambda row: (tf.one_hot(row % 8, 8), tf.one_hot(row % 2, 2)), num_parallel_calls=data.get("num_workers")
    )
    return rows.batch(data.get("batch_size", 16), drop_remainder=True)
""",
    "mypkg/train.py": """
import tensorflow as tf


def make_step():
    layers = [tf.keras.Input([8]), tf.keras.layers.Dense(2)]
    return tf.keras.Sequential(layers), tf.keras.losses.MeanSquaredError(), tf.keras.optimizers.SGD()
""",
}
"""The package of their own that readers of the README have in mind."""

TOLD_ELSEWHERE = {
    "docs/workflows.md": {
        "pre-commit install": "tests/workflows/test_pre_commit.py makes this transcript with the real pre-commit",
        "git commit -q -m 'A first run'": "the same transcript",
        "cfgfix --fix": "the same transcript",
        "git add -u && git commit -q -m 'A first run'": "the same transcript",
    },
}
"""Commands of one page whose own test lies elsewhere."""

LONG = {
    "cfgfix tune *": "most of a minute; tests/cli/test_tune.py runs shorter ones",
    "cfgfix report *": "most of a minute; tests/cli/test_report_folder.py runs a shorter one",
}
"""Commands that run only with CFGFIX_DEEP=1, each with the reason."""

MEASURES = re.compile(r"cfgfix (profile|diagnose|tune|report)\b")
"""Commands that run TensorFlow."""


def left_out(page, command):
    if not os.environ.get("CFGFIX_DEEP") and any(fnmatch(command, pattern) for pattern in LONG):
        return True
    return command in TOLD_ELSEWHERE.get(page, {}) or any(fnmatch(command, pattern) for pattern in NOT_RUN)


def commands(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    return [step.name for step in docs_commands.steps(text) if step.kind == "command"]


WITH_COMMANDS = [page for page in PAGES if commands(page)]
WITH_TENSORFLOW = [
    page
    for page in WITH_COMMANDS
    if any(MEASURES.search(command) and not left_out(page, command) for command in commands(page))
]


def follow(page, tmp_path, *, measuring):
    """Do what a reader of the page does, and hold what happens against what the page shows."""
    folder = docs_commands.Folder(tmp_path)
    for name, text in THEIR_OWN.items():
        folder.write(docs_commands.Step("file", name, text, (0, 0)))
    for step in docs_commands.steps((ROOT / page).read_text(encoding="utf-8")):
        if step.kind == "file":
            folder.write(step)
        elif not left_out(page, step.name) and (measuring or not MEASURES.search(step.name)):
            # A job of the reader's own that runs: this one.
            outcome = folder.do(step.name.replace("--pid 4242", f"--pid {os.getpid()}"))
            told = f"{step.name}\n{outcome.output}\n{outcome.errors}"
            assert outcome.code in {0, 1}, told
            assert "Traceback" not in outcome.errors, told
            assert outcome.output or outcome.errors or SILENT.search(step.name) or step.text is not None, told
            if step.text is not None:
                assert docs_commands.agrees(step.text, outcome.output), told


@pytest.mark.parametrize("page", [page for page in WITH_COMMANDS if page not in WITH_TENSORFLOW])
def test_what_a_page_shows_is_what_happens(page, tmp_path):
    follow(page, tmp_path, measuring=False)


@pytest.mark.acceptance
@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_TENSORFLOW)
def test_what_a_page_measures_can_be_measured(page, tmp_path):
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("needs the tf extra")
    follow(page, tmp_path, measuring=True)


def test_there_are_pages_of_both_kinds():
    assert "docs/get-started.md" in WITH_COMMANDS
    assert "docs/fa/quick-start.md" in WITH_COMMANDS
    assert "docs/before-training.md" in WITH_TENSORFLOW


def test_nothing_is_left_out_that_is_not_shown():
    shown = {(page, command) for page in PAGES for command in commands(page)}
    for pattern in (*NOT_RUN, *LONG):
        assert any(fnmatch(command, pattern) for _, command in shown), pattern
    for page, known in TOLD_ELSEWHERE.items():
        for command in known:
            assert (page, command) in shown


INLINE = re.compile(
    r"`(cfgfix(?: [^`]+)?)`|^[^`\n]*?(?:run: |script: \[.*?, |- )(cfgfix [^\n\]]+)", re.MULTILINE
)


def named(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    return [" ".join((found[1] or found[2]).split()) for found in INLINE.finditer(text)]


@pytest.mark.parametrize("page", [page for page in PAGES if named(page)])
def test_every_command_and_option_that_is_named_exists(page):
    for text in named(page):
        tokens = shlex.split(text.replace("...", ""))[1:]
        command: click.Command = cli
        context = click.Context(cli, info_name="cfgfix")
        while tokens and isinstance(command, click.Group) and not tokens[0].startswith("-"):
            if tokens[0].isupper() or "|" in tokens[0]:
                break
            below = command.get_command(context, tokens[0])
            assert below is not None, f"{page}: {text}"
            command, context = below, click.Context(below, info_name=tokens[0], parent=context)
            tokens = tokens[1:]
        options = {
            name for option in command.get_params(context) for name in (*option.opts, *option.secondary_opts)
        }
        for token in tokens:
            if re.match(r"--?[a-z]", token):
                assert token.partition("=")[0] in options, f"{page}: {text}: {token}"


@pytest.mark.parametrize(
    ("shown", "real", "right"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n...\nc\n", "a\nb\nb\nc\n", True),
        ("...\nc\n", "a\nc\n", True),
        ("a\n...\n", "a\nb\n", True),
        ("a\nb\n", "a\nc\n", False),
        ("a\n...\nd\n", "a\nb\nc\n", False),
        ("a\n", "a\nb\n", False),
        ("", "", True),
        ("", "a\n", False),
    ],
)
def test_shown_output_is_held_against_the_real_one(shown, real, right):
    assert docs_commands.agrees(shown, real) is right


MADE = make_docs.pages()


def test_every_rule_has_a_page_with_its_evidence():
    for rule in make_docs.builtin().rules:
        page = MADE[f"rules/{rule.id}.md"]
        data = make_docs.load_yaml(rule.path)
        assert page.startswith(f"# {rule.id} {rule.name}\n")
        assert "## Evidence\n\n- " in page
        assert "## Fix\n\n" in page
        for table in make_docs.of_rule(data["evidence"]):
            assert f"**{make_docs.prose(table.title)}**" in page
            for name, _ in table.rows:
                assert f"| {make_docs.cell(name)} |" in page
        assert f"[{rule.id}]({rule.id}.md)" in MADE["rules/index.md"]


def test_every_folder_of_rules_has_a_title():
    assert set(make_docs.families()) == set(make_docs.FAMILIES)


def test_every_command_and_option_is_in_the_reference():
    page = MADE["reference/commands.md"]

    def look(command, context):
        assert f" {context.command_path}\n" in page
        for option in command.get_params(context):
            if isinstance(option, click.Option) and not option.hidden:
                assert option.opts[0] in page
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                look(below, click.Context(below, info_name=name, parent=context))

    look(cli, click.Context(cli, info_name="cfgfix"))


def test_every_field_of_the_report_is_told():
    plain = json.loads(make_docs._samples()["json"])
    fields = {*plain, *plain["files"][0], *plain["files"][0]["findings"][0]}
    assert fields == set(make_docs.MEANINGS)
    assert all(make_docs.MEANINGS.values())


def test_pages_from_the_files_are_no_code_for_the_reader():
    for name, text in MADE.items():
        prose = re.sub(r"(?ms)^(`{3,})[^\n]*\n.*?^\1$", "", text)
        assert not re.search(r"<(?!https?:)[a-z/]", re.sub(r"`[^`]*`|\\<", "", prose)), name


def test_the_starts_in_two_languages_show_the_same_commands():
    english = [command for command in commands("docs/get-started.md") if command.startswith("cfgfix fix")]
    persian = [command for command in commands("docs/fa/quick-start.md") if command.startswith("cfgfix fix")]
    assert english == persian
    assert persian


def test_the_site_builds(tmp_path):
    if importlib.util.find_spec("mkdocs") is None or importlib.util.find_spec("material") is None:
        pytest.skip("needs the docs extra")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--quiet",
            "--site-dir",
            str(tmp_path / "site"),
        ],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path / "site"
    assert (site / "rules" / "HWR001.html").is_file()
    assert (site / "reference" / "commands.html").is_file()
    assert 'dir="rtl"' in (site / "fa" / "quick-start.html").read_text(encoding="utf-8")
    assert "https://fonts" not in (site / "index.html").read_text(encoding="utf-8")
