"""`cfgfix explain`: a rule, or a key or concept."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable
from typing import Any

import click

from cfgfix.catalog.load import Catalogue, builtin, with_folders
from cfgfix.catalog.read import fixes_of, load_yaml
from cfgfix.catalog.rule import Rule
from cfgfix.cli.completing import topics
from cfgfix.errors import CfgfixError

WIDTH = 96


@click.command("explain")
@click.argument("what", shell_complete=topics)
@click.option("--json", "as_json", is_flag=True, help="Print the rule file's data as JSON.")
def explain(*, what: str, as_json: bool) -> None:
    """Explain WHAT: a rule by id or name, a concept such as batch_size, or a key path such as data.num_workers."""
    catalogue = _catalogue()
    rule = catalogue.find(what)
    if rule is not None:
        data = load_yaml(rule.path)
        if as_json:
            import json

            click.echo(json.dumps(data, indent=2, ensure_ascii=False, default=str))
        else:
            click.echo("\n".join(rule_page(rule, data)))
        return
    page = concept_page(what, catalogue)
    if page is None:
        import difflib

        from cfgfix.dialects.dialect import dialects

        names = [
            *catalogue.keys(),
            *{concept for dialect in dialects().values() for concept in dialect.concepts},
        ]
        near = difflib.get_close_matches(what, names, 1)
        raise CfgfixError(
            f"{what!r} is no rule, concept or known key",
            hint=f"did you mean {near[0]!r}?" if near else "see `cfgfix rules`",
        )
    click.echo("\n".join(page))


def _catalogue() -> Catalogue:
    from cfgfix.settings import discover

    settings = discover(".")
    return (
        with_folders(os.path.join(settings.root, folder) for folder in settings.rules)
        if settings.rules
        else builtin()
    )


def _wrapped(text: object, indent: str = "  ") -> list[str]:
    return textwrap.wrap(
        " ".join(str(text).split()),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def rule_page(rule: Rule, data: dict[str, Any]) -> list[str]:
    """Return everything the rule file says, as a page of text."""
    lines = [
        f"{rule.id} {rule.name} ({rule.severity.label}, confidence {rule.confidence.label}{', preview' if rule.preview else ''})",
        "",
    ]
    lines += [*_wrapped(data["summary"]), "", "Why", *_wrapped(data["why"])]
    if "when" in data:
        lines += ["", "When", *_wrapped(data["when"])]
    lines += ["", "Evidence"]
    for item in data["evidence"]:
        if "source" in item:
            lines += _wrapped(f"- {item['source']}: {item.get('says', '')}".rstrip(": "))
        else:
            extra = ", ".join(
                f"{key} {value}" for key, value in item.items() if key not in ("measured", "note")
            )
            lines += _wrapped(
                f"- measured ({item.get('measured')}{', ' + extra if extra else ''}): {item.get('note', '')}".rstrip(
                    ": "
                )
            )
    folklore = data.get("folklore")
    for item in folklore if isinstance(folklore, list) else [folklore] if folklore else []:
        lines += [
            "",
            "Folklore",
            *_wrapped(f"Advice: {item['claim']}"),
            *_wrapped(f"Measured: {item['measured']}"),
            *_wrapped(f"Instead: {item['instead']}"),
        ]
    lines += _examples(data)
    lines += ["", "Fix"]
    fixes = fixes_of(data)
    for fix in fixes:
        lines += _wrapped(f"{fix['safety']}: {fix['title']}. {fix['why']}")
    if not fixes:
        lines += _wrapped(f"none: {data.get('no_fix')}")
    if data.get("false_positives"):
        lines += ["", "Where it would be wrong", *_wrapped(data["false_positives"])]
    lines += ["", "Silence it", f"  # cfgfix: ignore[{rule.id}] reason   (on the line or the line above)"]
    return lines


def _examples(data: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    bad = next((case for case in data["cases"] if case["finds"] and case.get("config")), None)
    if bad is not None:
        lines += ["", f"Bad{_machine(bad)}", *_quoted(bad["config"])]
        if bad.get("fixed"):
            lines += ["", "Good", *_quoted(bad["fixed"])]
    good = next((case for case in data["cases"] if not case["finds"] and case.get("config")), None)
    if good is not None and not (bad and bad.get("fixed")):
        lines += ["", f"Good{_machine(good)}", *_quoted(good["config"])]
    return lines


def _machine(case: dict[str, Any]) -> str:
    machine = case.get("hardware")
    return f" (on {machine})" if machine else ""


def _quoted(text: str) -> Iterable[str]:
    return [f"    {line}" for line in str(text).rstrip("\n").splitlines()]


def concept_page(what: str, catalogue: Catalogue) -> list[str] | None:
    """Return what is known of a concept or key path, or None where it is neither."""
    from cfgfix.dialects.dialect import dialects, schema_data
    from cfgfix.findings import parse_key_path

    lines: list[str] = []
    concepts = {what}
    try:
        path = parse_key_path(what)
    except ValueError:
        path = ()
    for dialect in dialects().values():
        concept = dialect.concept_of(path) if path else None
        if concept is not None:
            concepts.add(concept)
    known = False
    for concept in sorted(concepts):
        for dialect in dialects().values():
            patterns = dialect.concepts.get(concept)
            if patterns:
                if not known:
                    lines.append(
                        f"{what}: the concept {concept}" if concept != what else f"{what}: a concept"
                    )
                known = True
                lines.append(
                    f"  in {dialect.title}: {', '.join(_pattern_text(pattern) for pattern in patterns)}"
                )
        rules = [
            rule
            for rule in catalogue.rules
            if concept in rule.operands or concept in rule.at or (rule.each and concept in rule.each.concepts)
        ]
        if rules:
            lines += ["", "Rules about it"]
            lines += [f"  {rule.id} {rule.name} ({rule.severity.label}): {rule.summary}" for rule in rules]
    for dialect in dialects().values():
        data = schema_data(dialect)
        if data is None or not path:
            continue
        from cfgfix.schema.validate import Schema

        description = Schema.load(data, dialect.name).describe(path)
        if description:
            known = True
            lines += ["", f"In the schema of {dialect.title}", *_wrapped(description)]
    return lines if known else None


def _pattern_text(pattern: tuple[str | int | None, ...]) -> str:
    text = ""
    for step in pattern:
        text += (
            "[]"
            if step == -1
            else f"[{step}]"
            if isinstance(step, int)
            else ("." if text else "") + ("*" if step is None else step)
        )
    return text
