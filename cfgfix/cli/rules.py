"""`cfgfix rules`: list the rules, or run the cases of a folder."""

from __future__ import annotations

from typing import Any

import click

from cfgfix.core.visible import json_text, visible, visible_lines
from cfgfix.rules.rule import Rule


@click.group("rules", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def rules(ctx: click.Context, *, as_json: bool) -> None:
    """List all rules; `cfgfix rules test FOLDER` runs the cases of a rule folder."""
    if ctx.invoked_subcommand is not None:
        return
    from cfgfix.settings.project_dialects import catalogue_of
    from cfgfix.settings.reader import discover

    catalogue = catalogue_of(discover("."))
    if as_json:
        click.echo(json_text([_rule_row(rule) for rule in catalogue.rules], indent=2))
        return
    width = max((len(rule.name) for rule in catalogue.rules), default=0)
    for rule in catalogue.rules:
        mark = "".join(sign for name, sign in _MARKS.items() if name in _fix_safeties(rule)).ljust(2)
        preview = " (preview)" if rule.preview else ""
        row = f"{rule.id} {mark} {rule.name.ljust(width)}  {rule.severity.label.ljust(7)}  {rule.summary}{preview}"
        click.echo(visible(row))
    click.echo(
        f"\n{len(catalogue.rules)} rules; * has a safe fix, ! an unsafe one, *! either, by the place; `cfgfix explain RULE` tells the rest"
    )


_MARKS = {"safe": "*", "unsafe": "!"}


def _fix_safeties(rule: Rule) -> list[str]:
    return list(dict.fromkeys(name for fix in rule.fixes for name in fix.safeties))


def _best_safety(rule: Rule) -> str:
    return next((name for name in ("safe", "unsafe", "display") if name in _fix_safeties(rule)), "")


def _rule_row(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": rule.name,
        "summary": rule.summary,
        "family": rule.family,
        "severity": rule.severity.label,
        "confidence": rule.confidence.label,
        "preview": rule.preview,
        "fix": _best_safety(rule) or None,
        "fix_safety": _fix_safeties(rule),
        "needs_hardware": rule.needs_hardware,
        "path": rule.path,
    }


@rules.command("test")
@click.argument("folders", metavar="PATHS...", nargs=-1, required=True)
def run_cases(*, folders: tuple[str, ...]) -> None:
    """Run the cases of the rule files in PATHS: folders, or single files.

    Found as said, fixed as said, clean after, stable.
    """
    from cfgfix.lint.rule_cases import run_folder
    from cfgfix.settings.project_dialects import known_dialects, names_for_rules
    from cfgfix.settings.reader import discover

    total = failed = 0
    for folder in folders:
        names = names_for_rules(known_dialects(discover(folder)).values())
        for result in run_folder(folder, names):
            total += 1
            for problem in result.problems:
                click.echo(visible_lines(f"{result.rule} [{result.case}]: {problem}"))
            failed += bool(result.problems)
    click.echo(f"{total - failed} passed, {failed} failed")
    raise SystemExit(1 if failed else 0)
