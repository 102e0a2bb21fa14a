"""`cfgfix explain`: a rule, or a key or concept."""

from __future__ import annotations

import json
import os
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import click

from cfgfix.advice.page import (
    Line,
    machine_lines,
    measured_facts,
    recommendation_lines,
    recommendations,
    table_text,
)
from cfgfix.advice.recommend import recommend
from cfgfix.advice.topics import topic_of, topics
from cfgfix.cli.completing import topics as topic_names
from cfgfix.config.dialects.dialect import Dialect
from cfgfix.config.dialects.signatures import Pattern
from cfgfix.core.errors import CfgfixError, did_you_mean
from cfgfix.core.visible import json_text, visible_lines
from cfgfix.rules.catalogue import Catalogue
from cfgfix.rules.evidence import of_rule
from cfgfix.rules.reader import fixes_of, load_yaml, plain_title, refuted, safeties
from cfgfix.rules.rule import Rule

WIDTH = 96


@click.command("explain")
@click.argument("what", shell_complete=topic_names)
@click.option(
    "--hardware",
    "request",
    help="The machine to recommend for: auto, a profile such as rtx4090x2,cpus=16,ram=64, or a file.",
)
@click.option("--dialect", help="Whose keys the recommendation names; by default the first that has the key.")
@click.option("--json", "as_json", is_flag=True, help="Print the same as JSON.")
def explain(*, what: str, request: str | None, dialect: str | None, as_json: bool) -> None:
    """Explain WHAT: a rule, a setting, a config file, or a topic.

    A rule by id or name; a key of this project's configs, such as data.num_workers or its last step; a concept such as
    batch_size; a config file, with the programs that open it and where they read its keys; or one of the topics ram,
    gpu_topology, gpu_memory, gpu_utilisation, variation, data_share, throughput, storage.
    """
    if _is_config(what):
        from cfgfix.advice.file_report import file_facts, file_lines

        facts = file_facts(what)
        click.echo(json_text(facts, indent=2) if as_json else visible_lines("\n".join(file_lines(facts))))
        return
    catalogue = _load_catalogue()
    rule = catalogue.find(what)
    if rule is not None:
        data = load_yaml(rule.path)
        if as_json:
            data["results"] = [
                {
                    "script": table.script,
                    "title": table.title,
                    "timed": table.timed,
                    "rows": dict(table.rows),
                    "measured": table.circumstances,
                }
                for table in of_rule(data["evidence"])
            ]
            click.echo(json_text(data, indent=2, default=str))
        else:
            click.echo(visible_lines("\n".join(rule_page(rule, data))))
        return
    page = subject_page(what, catalogue, request, dialect)
    code = _lines_of_code_use(what)
    if page is None and code:
        click.echo(json.dumps({"code": code}, indent=2) if as_json else visible_lines("\n".join(code)))
        return
    if page is None:
        from cfgfix.advice.own_configs import own_configs, spellings
        from cfgfix.config.dialects.dialect import dialects

        names = [
            *spellings(own_configs(None)),
            *catalogue.keys(),
            *topics(),
            *{concept for dialect in dialects().values() for concept in dialect.concepts},
        ]
        raise CfgfixError(
            f"{what!r} is no rule, concept or known key",
            hint=did_you_mean(what, names, "see `cfgfix rules`"),
        )
    if as_json:
        data = page.data()
        if code:
            data["code"] = code
        click.echo(json_text(data, indent=2, default=str))
    else:
        text = page.text()
        code = _not_told("\n".join(text), code)
        click.echo(visible_lines("\n".join([*text, *([""] if code else []), *code])))


def _is_config(what: str) -> bool:
    """Tell whether an argument is a file that may be a config."""
    return what.endswith((".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".conf")) and os.path.isfile(
        what
    )


def _lines_of_code_use(what: str) -> list[str]:
    """Return lines on where and how the project's code uses a key."""
    from cfgfix.settings.reader import discover

    settings = discover(".")
    if settings.schema is None and not settings.source_roots:
        from cfgfix.advice.file_report import key_reads

        return key_reads(what)
    from cfgfix.advice.key_report import key_lines

    return key_lines(what, settings)


def _not_told(page: str, code: Iterable[str]) -> list[str]:
    """Return the lines on reads of a key whose place is not yet on the page."""
    joined = " ".join(page.split())
    return [line for line in code if (place := _READ.search(line)) is None or f" in {place[1]}" not in joined]


_READ = re.compile(r": read in (\S+:\d+) \(")


def _load_catalogue() -> Catalogue:
    from cfgfix.settings.project_dialects import catalogue_of
    from cfgfix.settings.reader import discover

    return catalogue_of(discover("."))


def _wrapped_text(text: object, indent: str = "  ") -> list[str]:
    clean = " ".join(str(text).split())
    return textwrap.wrap(
        clean,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + ("  " if clean.startswith("- ") else ""),
        break_long_words=False,
        break_on_hyphens=False,
    )


def rule_page(rule: Rule, data: dict[str, Any]) -> list[str]:
    """Return all of a rule file as a page of text."""
    lines = [
        f"{rule.id} {rule.name} ({rule.severity.label}, confidence {rule.confidence.label}{', preview' if rule.preview else ''})",
        "",
    ]
    lines += [*_wrapped_text(data["summary"]), "", "Why", *_wrapped_text(data["why"])]
    if "when" in data:
        lines += ["", "When", *_wrapped_text(data["when"])]
    lines += ["", "Evidence"]
    for item in data["evidence"]:
        if "source" in item:
            lines += _wrapped_text(f"- {item['source']}: {item.get('says', '')}".rstrip(": "))
        else:
            lines += _wrapped_text(f"- measured ({item['measured']}): {item.get('note', '')}".rstrip(": "))
            for table in of_rule([item]):
                lines += wrapped_lines(table_text(table))
    places = {table.circumstances: table.script for table in of_rule(data["evidence"])}
    for place, script in places.items():
        lines += _wrapped_text(f"{script}: {place}")
    for item in refuted(data):
        lines += [
            "",
            "Refuted by measurement",
            *_wrapped_text(f"Myth: {item['claim']}"),
            *_wrapped_text(f"Measured: {item['measured']}"),
            *_wrapped_text(f"Instead: {item['instead']}"),
        ]
    lines += _example_lines(data)
    lines += ["", "Fix"]
    fixes = fixes_of(data)
    for fix in fixes:
        lines += _wrapped_text(f"{safeties(fix)}: {plain_title(fix['title'])}. {fix['why']}")
    if not fixes:
        lines += _wrapped_text(f"none: {data.get('no_fix')}")
    if data.get("false_positives"):
        lines += ["", "Where it would be wrong", *_wrapped_text(data["false_positives"])]
    lines += ["", "Silence it", f"  # cfgfix: ignore[{rule.id}] reason   (on the line or the line above)"]
    return lines


def _example_lines(data: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    bad = next((case for case in data["cases"] if case["finds"] and case.get("config")), None)
    if bad is not None:
        lines += ["", f"Bad{_machine_text(bad)}", *_quote_lines(bad["config"])]
        if bad.get("fixed"):
            lines += ["", "Good", *_quote_lines(bad["fixed"])]
    good = next((case for case in data["cases"] if not case["finds"] and case.get("config")), None)
    if good is not None and not (bad and bad.get("fixed")):
        lines += ["", f"Good{_machine_text(good)}", *_quote_lines(good["config"])]
    return lines


def _machine_text(case: dict[str, Any]) -> str:
    machine = case.get("hardware")
    return f" (on {machine})" if machine else ""


def _quote_lines(text: str) -> Iterable[str]:
    return [f"    {line}" for line in str(text).rstrip("\n").splitlines()]


class Subject:
    """A page about a setting or topic: named sections of lines."""

    __slots__ = ("sections", "title")

    def __init__(self, title: str) -> None:
        self.title = title
        self.sections: dict[str, list[Line]] = {}

    def add(self, name: str, lines: Iterable[Line]) -> None:
        """Add a section, unless it is empty."""
        found = list(lines)
        if found:
            self.sections.setdefault(name, []).extend(found)

    def text(self) -> list[str]:
        """Return the page as lines of text."""
        lines = [self.title]
        for name, rows in self.sections.items():
            lines += ["", name, *wrapped_lines(rows)]
        return lines

    def data(self) -> dict[str, Any]:
        """Return the page as plain data."""
        return {
            "version": 1,
            "title": self.title,
            "sections": {name: [text for _, text in rows] for name, rows in self.sections.items()},
        }


def wrapped_lines(rows: Iterable[Line]) -> list[str]:
    """Return lines wrapped and indented by their depth."""
    return [line for depth, text in rows for line in _wrapped_text(text, "  " + " " * (depth - 1))]


def subject_page(what: str, catalogue: Catalogue, request: str | None, wanted: str | None) -> Subject | None:
    """Return the page on a concept, key path or topic.

    None where the argument is none of them.
    """
    from cfgfix.advice.own_configs import keys_named, own_configs
    from cfgfix.cli.recommend import machine_for, view_of
    from cfgfix.config.dialects.meanings import meaning
    from cfgfix.settings.project_dialects import known_dialects
    from cfgfix.settings.reader import discover

    settings = discover(".")
    dialects = known_dialects(settings)
    machine, line = machine_for(request, settings, fallback=None)
    configs = own_configs(machine) if wanted is None else []
    own_keys = list(keys_named(what, configs))
    concepts = _concepts_of(what, dialects.values())
    concepts |= {
        concept for own, key in own_keys for concept, known in own.meanings.keys if known == key.path
    }
    topic = next((found for found in map(topic_of, [what, *sorted(concepts)]) if found is not None), None)
    kind = f"the concept {', '.join(sorted(concepts - {what}))}" if concepts - {what} else "a setting"
    if topic is not None and what == topic.name and topic.title != topic.name:
        kind = topic.title
    elif topic is not None and topic.title != topic.name:
        kind += f" (see also {topic.name}: {topic.title})"
    page = Subject(f"{what}: {kind}")
    subjects = {*concepts, *(topic.concepts if topic is not None else ())}
    from cfgfix.advice.key_report import project_lines

    page.add("In this project", project_lines(own_keys, request))
    page.add(
        "What it is",
        [(1, f"{concept}: {text}") for concept in sorted(concepts) if (text := meaning(concept))],
    )
    if topic is not None:
        if machine is None:
            page.add("For your machine", [(1, line)])
            if topic.instead:
                page.add("For your machine", [(1, topic.instead)])
        else:
            own = own_keys[0][0] if own_keys else configs[0] if configs else None
            if own is not None:
                view, schema, whose = own.view, own.schema, own.path
            else:
                name = wanted or settings.dialect or _dialect_for(what, topic.concepts, dialects)
                view, schema, used = view_of(None, name, settings, machine)
                whose = used.title
            page.add(
                f"cfgfix recommends for {machine.label}, in the keys of {whose}",
                recommendation_lines(topic, recommend(view, machine, schema), view, machine),
            )
            page.add("The machine", machine_lines(machine))
    page.add(
        "Rules about it",
        [
            (1, f"{rule.id} {rule.name} ({rule.severity.label}): {rule.summary}")
            for rule in catalogue.rules
            if subjects & {*rule.operands, *rule.at, *(rule.each.concepts if rule.each else ())}
        ],
    )
    if topic is not None:
        page.add("Recommended by", recommendations(topic, machine))
        page.add("Where they disagree", [(1, f"- {text}") for text in topic.contradictions])
        page.add("Measured", measured_facts(topic))
    if own_keys:
        return page
    page.add("What the schema says", _describe_subject(what, dialects.values()))
    for concept in sorted(subjects):
        found = [
            (1, f"{concept} in {dialect.title}: {_path_list(dialect.concepts[concept])}")
            for dialect in _dialects_with(dialects.values(), what, concept)
        ]
        page.add("In known families of configs", found)
    return page if page.sections else None


def _concepts_of(what: str, known: Iterable[Dialect]) -> set[str]:
    """Return the concepts that a name or key path stands for."""
    from cfgfix.core.findings import parse_key_path

    found: set[str] = set()
    try:
        path = parse_key_path(what)
    except ValueError:
        path = ()
    for dialect in known:
        if what in dialect.concepts:
            found.add(what)
        concept = dialect.concept_of(path) if path else None
        if concept is not None:
            found.add(concept)
    return found


SHOWN_KEYS = 6
"""Key paths of one dialect that are shown for a concept; the generic dialect has dozens."""


def _dialects_with(known: Iterable[Dialect], what: str, concept: str) -> list[Dialect]:
    return [
        dialect
        for dialect in known
        if concept in dialect.concepts and (dialect.name != "generic" or concept == what)
    ]


def _path_list(patterns: Sequence[Pattern]) -> str:
    more = len(patterns) - SHOWN_KEYS
    return ", ".join(map(_pattern_text, patterns[:SHOWN_KEYS])) + (f" and {more} more" if more > 0 else "")


def _dialect_for(what: str, concepts: tuple[str, ...], known: dict[str, Dialect]) -> str:
    """Return the dialect whose keys a page names.

    It is the one with this very key, else the one with most facts that has a concept of the page.
    """
    from cfgfix.core.findings import parse_key_path

    try:
        path = parse_key_path(what)
    except ValueError:
        path = ()
    best = sorted(known.values(), key=lambda dialect: (-len(dialect.facts), -len(dialect.concepts)))
    for dialect in best if len(path) > 1 else ():
        if dialect.concept_of(path) is not None:
            return dialect.name
    for dialect in best:
        if any(concept in dialect.concepts for concept in concepts):
            return dialect.name
    return best[0].name


def _describe_subject(what: str, known: Iterable[Dialect]) -> Iterable[Line]:
    from cfgfix.config.dialects.dialect import schema_data
    from cfgfix.config.schema.validate import MISSING, Schema
    from cfgfix.core.findings import parse_key_path

    try:
        path = parse_key_path(what)
    except ValueError:
        return
    for dialect in known:
        data = schema_data(dialect) if path else None
        description = Schema.load(data, dialect.name).describe(path) if data is not None else None
        if description is not None:
            known_default = (
                "" if description.default is MISSING else f"; by default {json.dumps(description.default)}"
            )
            said = f" {description.text}" if description.text else ""
            yield (1, f"{dialect.title}: {description.expected}{known_default}.{said}")


def _pattern_text(pattern: Pattern) -> str:
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
