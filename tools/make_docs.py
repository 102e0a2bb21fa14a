"""Make the pages of the documentation that come from rules, commands and formats: `python tools/make_docs.py FOLDER`.

The site (mkdocs.yml) takes them from `pages()` while it is built, so none is kept in the repository; the command writes them to
a folder, to be read without the site.
"""

from __future__ import annotations

import inspect
import posixpath
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import click  # noqa: E402 - the checkout comes first

from cfgfix.cli.app import _COMMANDS, cli  # noqa: E402
from cfgfix.output.formats import FORMATS  # noqa: E402
from cfgfix.rules.catalogue import builtin  # noqa: E402
from cfgfix.rules.evidence import Table, of_rule  # noqa: E402
from cfgfix.rules.reader import fixes_of, load_yaml, plain_title, refuted, safeties  # noqa: E402
from cfgfix.rules.rule import Rule  # noqa: E402

RULES = "rules"
FAMILIES = {
    "yaml": "YAML",
    "schema": "Schema",
    "config": "Config",
    "code": "Config against code",
    "hardware": "Hardware",
    "pipeline": "Input pipeline (Python)",
    "function": "Graphs and steps (Python)",
    "devices": "Devices (Python)",
    "deprecated": "Deprecated names (Python)",
    "cluster": "Many machines",
    "source": "Source files",
    "suppression": "Suppressions",
}
"""Titles of the folders under rules/."""


def prose(text: object) -> str:
    """Return text of a rule file as Markdown: backticks stay, everything else that Markdown would read is escaped."""
    parts = re.split(r"(`[^`]*`)", " ".join(str(text).split()))
    return "".join(
        part if part.startswith("`") else re.sub(r"([\\*<>\[\]|_#])", r"\\\1", part) for part in parts
    )


def cell(text: object) -> str:
    """Return plain text as one cell of a table."""
    return " ".join(str(text).split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def fenced(text: object, language: str) -> list[str]:
    """Return text as a block of code, fenced with more backticks than it has."""
    body = str(text).rstrip("\n")
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", body) or [""]))
    return [f"{fence}{language}", body, fence]


def machine(facts: object) -> str:
    """Return the machine of a case in the words that `--hardware` takes, as far as they go."""
    if isinstance(facts, Mapping):
        return ",".join(
            f"{name}={machine(value) if isinstance(value, Mapping) else value}"
            for name, value in facts.items()
        )
    return str(facts)


def table(found: Table) -> list[str]:
    """Return one table of measurements."""
    head = "times as fast as the first row" if found.timed else "measured"
    lines = [f"**{prose(found.title)}**", "", f"| | {head} |", "|---|---|"]
    lines += [f"| {cell(name)} | {cell(value)} |" for name, value in found.rows]
    doubt = (
        " Other work disturbed this run: trust the order and large ratios only." if found.disturbed else ""
    )
    return [*lines, "", f"`{found.script}`: {prose(found.circumstances)}.{doubt}", ""]


def rule_page(rule: Rule, data: Mapping[str, Any]) -> str:
    """Return the page of one rule: all that its file says, with the measurements behind it."""
    lines = [f"# {rule.id} {rule.name}", "", f"{prose(data['summary'])}.", ""]
    lines += ["| severity | confidence | fix |", "|---|---|---|"]
    fixes = fixes_of(data)
    kinds = ", ".join(dict.fromkeys(safeties(fix) for fix in fixes)) or "none"
    preview = " (preview: runs with `--preview`)" if rule.preview else ""
    lines += [
        f"| {rule.severity.label}{preview} | {rule.confidence.label} | {kinds} |",
        "",
        "## Why",
        "",
        prose(data["why"]),
        "",
    ]
    if "when" in data:
        lines += ["It speaks when:", "", *fenced(" ".join(str(data["when"]).split()), "text"), ""]
    lines += [*_examples(data), "## Evidence", ""]
    for item in data["evidence"]:
        if "source" in item:
            says = f": {prose(item['says'])}" if item.get("says") else ""
            lines.append(f"- {prose(item['source'])}{says}")
        else:
            lines.append(f"- measured by `{item['measured']}`: {prose(item.get('note', ''))}")
    lines.append("")
    for found in of_rule(data["evidence"]):
        lines += table(found)
    for item in refuted(data):
        lines += ["## A myth that measurement refutes", "", f"- Myth: {prose(item['claim'])}"]
        lines += [f"- Measured: {prose(item['measured'])}", f"- Instead: {prose(item['instead'])}", ""]
    lines += ["## Fix", ""]
    lines += [
        f"- **{safeties(fix)}**: {prose(plain_title(fix['title']))}. {prose(fix['why'])}" for fix in fixes
    ]
    if not fixes:
        lines.append(f"None. {prose(data.get('no_fix'))}")
    if data.get("false_positives"):
        lines += ["", "## Where it would be wrong", "", prose(data["false_positives"])]
    if data.get("references"):
        lines += ["", "## Read more", "", *(f"- <{link}>" for link in data["references"])]
    lines += ["", "## Silence it", "", *fenced(f"# cfgfix: ignore[{rule.id}] the reason", "yaml")]
    lines += ["", "On the line or the line above it; `cfgfix explain " + rule.id + "` prints this page.", ""]
    return "\n".join(lines)


def _examples(data: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    bad = next((case for case in data["cases"] if case["finds"] and _body(case)), None)
    good = next((case for case in data["cases"] if not case["finds"] and _body(case)), None)
    if bad is not None:
        lines += ["## Example", "", *_shown("Found", bad)]
        if bad.get("fixed"):
            lines += ["Fixed:", "", *fenced(bad["fixed"], "yaml" if bad.get("config") else "python"), ""]
    if good is not None and not (bad and bad.get("fixed")):
        lines += [*([] if bad else ["## Example", ""]), *_shown("Not found", good)]
    return lines


def _body(case: Mapping[str, Any]) -> bool:
    return bool(case.get("config") or case.get("files"))


def _shown(title: str, case: Mapping[str, Any]) -> list[str]:
    where = f", on `{machine(case['hardware'])}`" if case.get("hardware") else ""
    lines = [f"{title}{where}:", ""]
    if case.get("config"):
        lines += [*fenced(case["config"], "yaml"), ""]
    for path, text in (case.get("files") or {}).items():
        language = (
            "python" if path.endswith(".py") else "yaml" if path.endswith((".yaml", ".yml")) else "text"
        )
        lines += [f"`{path}`:", "", *fenced(text, language), ""]
    return lines


def family(rule: Rule) -> str:
    """Return the folder of a rule's file."""
    return Path(rule.path).parent.name


def families() -> dict[str, list[Rule]]:
    """Return the rules of each folder, in the order of their ids."""
    found: dict[str, list[Rule]] = {}
    for rule in sorted(builtin().rules, key=lambda rule: rule.id):
        found.setdefault(family(rule), []).append(rule)
    order = [*FAMILIES, *sorted(set(found) - set(FAMILIES))]
    return {name: found[name] for name in order if name in found}


def rules_index() -> str:
    """Return the page that lists all rules."""
    grouped = families()
    total = sum(map(len, grouped.values()))
    lines = [
        "# Rules",
        "",
        f"{total} rules. Each page is made from the rule's own file: why, evidence, measurements, fix, limits.",
        "",
    ]
    for name, rules in grouped.items():
        lines += [
            f"## {FAMILIES.get(name, name)}",
            "",
            "| rule | says | severity | fix |",
            "|---|---|---|---|",
        ]
        for rule in rules:
            kinds = ", ".join(dict.fromkeys(" or ".join(fix.safeties) for fix in rule.fixes)) or "none"
            severity = rule.severity.label + (", preview" if rule.preview else "")
            lines.append(
                f"| [{rule.id}]({rule.id}.md) `{rule.name}` | {prose(rule.summary)} | {severity} | {kinds} |"
            )
        lines.append("")
    return "\n".join(lines)


def commands_page() -> str:
    """Return the reference of the commands, read from click."""
    lines = [
        "# Commands",
        "",
        "Made from the commands themselves; `cfgfix COMMAND --help` prints the same.",
        "",
    ]
    context = click.Context(cli, info_name="cfgfix")
    lines += _command(cli, context, 2)
    for name in _COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        lines += _commands(command, context, name, 2)
    return "\n".join(lines)


def _commands(command: click.Command, parent: click.Context, name: str, depth: int) -> list[str]:
    context = click.Context(command, info_name=name, parent=parent)
    lines = _command(command, context, depth)
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            below = command.get_command(context, inner)
            assert below is not None
            lines += _commands(below, context, inner, depth + 1)
    return lines


def _command(command: click.Command, context: click.Context, depth: int) -> list[str]:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    lines = [f"{'#' * depth} {context.command_path}", "", *fenced(usage, "text"), ""]
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(command.help or "")):
        lines += [prose(paragraph), ""]
    options = [
        found for found in command.get_params(context) if isinstance(found, click.Option) and not found.hidden
    ]
    if options:
        lines += ["| option | meaning |", "|---|---|"]
        for option in options:
            record = option.get_help_record(context)
            if record is not None:
                lines.append(f"| `{record[0].replace('|', ' / ')}` | {prose(record[1])} |")
        lines.append("")
    return lines


def _samples() -> dict[str, str]:
    """Return a real report of one small config in every format."""
    import os
    import tempfile

    from cfgfix.cli.app import call

    text = "training:\n  learning_rate: 1e-4\ndata:\n  batch_size: 32\n  num_workers: 64\n"
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "train.yaml").write_text(text, encoding="utf-8")
        try:
            os.chdir(folder)
            call(
                [
                    "check",
                    "train.yaml",
                    "--isolated",
                    "--dialect",
                    "myxtts",
                    "--hardware",
                    "rtx4090,cpus=16,ram=64",
                    "--select",
                    "YML001,HWR001",
                    *(option for form in FORMATS for option in ("--output-format", f"{form}=out.{form}")),
                ]
            )
            return {form: Path(f"out.{form}").read_text(encoding="utf-8") for form in FORMATS}
        finally:
            os.chdir(before)


MEANINGS = {
    "version": "Of the format. Fields are added under the same number; a field that changes or goes makes a new one.",
    "tool": "Name and version of cfgfix.",
    "hardware": "The machine that was judged by, in one line.",
    "exit_code": "What the command returned.",
    "files": "One entry for each file that was read.",
    "lacking": "Of a file that no code is known to open: what was found in the code, and what is lacking; or null.",
    "path": "The file, relative to where cfgfix ran, with `/`.",
    "dialect": "The dialect in force, or null.",
    "loader": "How the program reads the YAML.",
    "opened_by": "The programs that open the file, as far as the code tells.",
    "imported_by": "The programs that import the file, where it is a Python module of settings.",
    "passed_over": "Why the file is no training config, or null.",
    "findings": "What was found and is left.",
    "fixed": "What was repaired in this run, as findings.",
    "refused": "Fixes that could not be proven, with the reason.",
    "cycle": "Rules whose fixes undo each other; the file was put back.",
    "skipped": "Rules that were not run, and why; with `--show-skipped`.",
    "errors": "Files that could not be read or written.",
    "rule": "Id of the rule.",
    "name": "Name of the rule or tool.",
    "severity": "`error`, `warning` or `info`.",
    "confidence": "`high`, `medium` or `low`.",
    "state": "`active`; or how it was silenced.",
    "message": "The finding in one sentence, with the values of this file.",
    "key": "Key path in the config, or null.",
    "location": "Where: bytes `start` to `end`, and `line`, `column` from 1, counted in characters.",
    "related": "Further places, as locations with a label.",
    "flow": "Steps from one place to the other, as locations.",
    "notes": "Further sentences. One that begins with `myth:` names a claim that measurement refutes, and what to do instead.",
    "profile": "The machine profile it holds for, where there are several.",
    "fix": "The repair: `title`, `safety` (`safe`, `unsafe`, `display`), `why`, and the `changes` of key paths.",
    "no_fix_reason": "Why there is none.",
}


def _fields(level: Mapping[str, Any]) -> list[str]:
    lines = ["| field | meaning |", "|---|---|"]
    return [*lines, *(f"| `{name}` | {MEANINGS.get(name, '')} |" for name in level), ""]


def output_page() -> str:
    """Return the reference of the output formats, with a report made while the page is."""
    import json

    samples = _samples()
    plain, sarif = json.loads(samples["json"]), json.loads(samples["sarif"])
    lines = [
        "# Output formats",
        "",
        "All formats carry the same findings and the same exit code. `--output-format FORMAT` prints one, `FORMAT=FILE` writes it;",
        "several can be given. The examples below are a real report, made when this page was.",
        "",
        "## json",
        "",
        *_fields(plain),
        "Each entry of `files`:",
        "",
        *_fields(plain["files"][0]),
        "Each finding:",
        "",
        *_fields(plain["files"][0]["findings"][0]),
        "A whole report:",
        "",
        *fenced(json.dumps(plain, indent=2, ensure_ascii=False), "json"),
        "",
        "## jsonl",
        "",
        "One finding on each line, with the same fields, for tools that read line by line.",
        "",
        "## sarif",
        "",
        "SARIF 2.1.0, for code scanning services. `level` is `error`, `warning` or `note`; `fixes` holds the exact replacement; every",
        "result has a fingerprint that moved lines do not change, so that a service knows a finding again. One result:",
        "",
        *fenced(json.dumps(sarif["runs"][0]["results"][0], indent=2, ensure_ascii=False), "json"),
        "",
        "The rule that goes with it:",
        "",
        *fenced(
            json.dumps(sarif["runs"][0]["tool"]["driver"]["rules"][0], indent=2, ensure_ascii=False), "json"
        ),
        "",
    ]
    for name, entry in FORMATS.items():
        if f"## {name}" not in lines:
            lines += [
                f"## {name}",
                "",
                f"For {entry.purpose}.",
                "",
                *fenced(samples[name].rstrip("\n"), ""),
                "",
            ]
    return "\n".join(lines)


PICTURE = re.compile(r"(!\[[^\]\n]*\])\(docs/([^)\s]+)\)")
LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(([^)\s#]*)(#[^)\s]*)?\)")


def site_path(path: str) -> str:
    """Return where the site shows a file of the repository.

    Args:
        path: The file, relative to the root, with `/`.
    """
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return path if path.endswith(".md") else path + ".md"


def relinked(text: str, origin: str, shown: Mapping[str, str]) -> str:
    """Return Markdown whose links to files of the repository lead to pages of the site, or are plain text.

    Args:
        text: The page.
        origin: The file it comes from, relative to the root.
        shown: Files that the site shows, with their pages.
    """

    def replaced(match: re.Match[str]) -> str:
        label, target, anchor = match[1], match[2], match[3] or ""
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))
        if path.startswith("docs/") and origin.startswith("docs/"):
            return match[0]
        page = shown.get(path)
        if page is None:
            return label if "`" in label else f"`{label}`"
        return f"[{label}]({posixpath.relpath(page, posixpath.dirname(site_path(origin)) or '.')}{anchor})"

    if not origin.startswith("docs/"):
        # A picture of docs/, as the page's own place in the site sees it.
        up = posixpath.relpath(".", posixpath.dirname(site_path(origin)) or ".")
        text = PICTURE.sub(lambda match: f"{match[1]}({posixpath.join(up, match[2])})", text)
    return LINK.sub(replaced, text)


def sources() -> dict[str, str]:
    """Return the files outside of docs/ that the site shows: README, and what its pages link to; each with its page."""
    found = {"README.md": "index.md"}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        origin = path.relative_to(ROOT).as_posix()
        found[origin] = site_path(origin)
    for origin in list(found):
        for match in LINK.finditer((ROOT / origin).read_text(encoding="utf-8")):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), match[2]))
            if match[2] and not target.startswith(("..", "docs/")) and (ROOT / target).is_file():
                found.setdefault(target, site_path(target))
    return found


def pages() -> dict[str, str]:
    """Return every page that is made: its path in the site, and its Markdown."""
    made = {
        f"{RULES}/index.md": rules_index(),
        "reference/commands.md": commands_page(),
        "reference/output.md": output_page(),
    }
    for rule in builtin().rules:
        made[f"{RULES}/{rule.id}.md"] = rule_page(rule, load_yaml(rule.path))
    shown = sources()
    for origin, page in shown.items():
        if not origin.startswith("docs/"):
            text = (ROOT / origin).read_text(encoding="utf-8")
            if origin.endswith(".md"):
                made[page] = relinked(text, origin, shown)
            else:
                made[page] = "\n".join([f"# {origin}", "", *fenced(text, origin.rpartition(".")[2]), ""])
    return made


def navigation() -> list[Any]:
    """Return the part of the site's navigation that lists the rules."""
    return [
        f"{RULES}/index.md",
        *(
            {
                FAMILIES.get(name, name): [
                    {f"{rule.id} {rule.name}": f"{RULES}/{rule.id}.md"} for rule in rules
                ]
            }
            for name, rules in families().items()
        ),
    ]


def main(arguments: Iterable[str]) -> None:
    """Write the pages to a folder."""
    folder = Path(next(iter(arguments), "build/docs"))
    made = pages()
    for name, text in made.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    print(f"{len(made)} pages in {folder}")


if __name__ == "__main__":
    main(sys.argv[1:])
