"""Answers to an editor's questions: what is this, and what can stand here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cfgfix.advice.key_meaning import absence_line, allowed_texts, end_lines, meaning_lines, read_line
from cfgfix.config.dialects.derived import DERIVED
from cfgfix.config.dialects.dialect import Dialect, matches
from cfgfix.config.dialects.meanings import meaning
from cfgfix.config.dialects.view import View
from cfgfix.config.document.spelling import spell
from cfgfix.config.schema.validate import MISSING
from cfgfix.core.findings import Finding, KeyPath, format_key_path, note_parts
from cfgfix.core.records import dataclass
from cfgfix.core.suggest import closest
from cfgfix.lsp.analysis import Analysis, Place, place_at, view_of
from cfgfix.rules.expression import Missing, format_bytes
from cfgfix.rules.rule import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfgfix.usage.code_facts import CodeFacts

MAX_PROGRAMS = 3
"""Most programs that are named beside a key."""
MAX_VALUES = 200
"""Most values or keys offered at once."""


@dataclass(frozen=True, slots=True)
class Hover:
    """A text in Markdown about a span of the config."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Offer:
    """One completion: `text` replaces the word that stands between `start` and `end`."""

    label: str
    text: str
    detail: str
    documentation: str
    kind: str
    """`key` or `value`."""
    start: int
    end: int
    slip: bool
    """Whether what is typed is taken for a slip of it, so that an editor must not filter it away."""


def hover(analysis: Analysis, offset: int) -> Hover | None:
    """Return the text to show at an offset, or None.

    It is about the findings with their rules, the key, and its value on this machine.
    """
    here = [
        finding
        for finding in analysis.report.findings
        if finding.location.start <= offset <= finding.location.end
    ]
    place = (
        place_at(analysis.basis.document, offset)
        if analysis.basis is not None and analysis.basis.document.problem is None
        else None
    )
    parts = [_about_finding(finding) for finding in here]
    if place is not None:
        parts.append(_about_key(analysis, place))
    if not parts:
        return None
    if here:
        return Hover("\n\n---\n\n".join(parts), here[0].location.start, here[0].location.end)
    assert place is not None
    return Hover("\n\n---\n\n".join(parts), place.start, place.end)


def _about_finding(finding: Finding) -> str:
    from cfgfix.rules.catalogue import builtin
    from cfgfix.rules.reader import load_yaml

    lines = [f"**{finding.rule}** {finding.name} ({finding.severity.label})", "", finding.message]
    rule = builtin().find(finding.rule)
    if rule is not None:
        why = " ".join(str(load_yaml(rule.path).get("why", "")).split())
        lines += ["", why]
    if finding.fix is not None:
        lines += ["", f"*Fix ({finding.fix.safety.label}):* {finding.fix.title}. {finding.fix.why}".rstrip()]
    elif finding.no_fix_reason:
        lines += ["", f"*No fix:* {finding.no_fix_reason}"]
    lines += ["", *(f"*{label.capitalize()}:* {text}" for label, text in map(note_parts, finding.notes))]
    return "\n".join(lines).rstrip()


def _about_key(analysis: Analysis, place: Place) -> str:
    assert analysis.basis is not None
    target = analysis.basis.target
    code_facts = analysis.basis.code_facts
    known_by = f"opened by {', '.join(code_facts.programs[:MAX_PROGRAMS])}" if code_facts is not None else ""
    by_code = code_facts is not None and target.dialect.confidence == "low"
    lines = [f"`{format_key_path(place.path)}` ({known_by if by_code else target.dialect.title})"]
    description = target.schema.describe(place.path) if target.schema is not None else None
    if description is not None:
        if description.text:
            lines += ["", description.text]
        if description.expected:
            lines.append(f"\nExpected: {description.expected}")
        if description.default is not MISSING:
            lines.append(f"\nDefault: `{spell(description.default)}`")
        if description.deprecated:
            lines.append("\nDeprecated.")
        if description.unread:
            lines.append("\nNo code reads it.")
    concept = target.dialect.concept_of(place.path)
    told = list(meaning_lines(place.path, target.meanings))
    if told:
        lines += ["", *(f"{text}." for text in told)]
    if code_facts is not None:
        lines += _in_code(place.path, code_facts)
    if concept is not None:
        if not told and (description is None or not description.text):
            lines += ["", meaning(concept)]
        lines += _effect_lines(analysis, place, concept)
    return "\n".join(lines)


def _in_code(path: KeyPath, code_facts: CodeFacts) -> list[str]:
    """Return lines on how the code that opens a config uses a key."""
    found = [*end_lines(path, code_facts)] or [read_line(path, code_facts)]
    found.append(absence_line(path, code_facts))
    lines = [f"- {text}" for text in found if text]
    return ["", *lines] if lines else []


def _effect_lines(analysis: Analysis, place: Place, concept: str) -> list[str]:
    """Return lines on what a concept's value means on the machine, and for its rules."""
    assert analysis.basis is not None
    rules = [rule for rule in analysis.basis.rules if _concerns_concept(rule, concept)]
    view = view_of(analysis.basis, place.document)
    if not rules or view is None:
        return []
    target = analysis.basis.target
    facts = list(_weighed_facts(rules, view, concept))
    lines = ["", f"On {target.hardware_label}:" if target.hardware_label else "No machine is named:"]
    lines += ["", *(f"- {name} = {value}" for name, value in facts)] if facts else []
    if not target.hardware_label and any(rule.needs_hardware for rule in rules):
        lines.append(
            "\nName the training machine in the settings (`hardware`) to have workers and memory judged."
        )
    told = {finding.rule for finding in analysis.report.findings}
    lines.append("")
    for rule in rules:
        mark = "has nothing to say"
        if rule.id in told:
            mark = "speaks here"
        elif rule.needs_hardware and target.hardware is None:
            mark = "needs a machine"
        lines.append(f"- {rule.id} {rule.name}: {mark}")
    return lines


def _concerns_concept(rule: Rule, concept: str) -> bool:
    return (
        concept in rule.operands
        or concept in rule.at
        or (rule.each is not None and concept in rule.each.concepts)
    )


def _weighed_facts(rules: Sequence[Rule], view: View, concept: str) -> Iterator[tuple[str, str]]:
    """Yield the facts and derived quantities that rules compare a concept with.

    Each comes with its value, as text.
    """
    names = {
        name for rule in rules for name in rule.operands if name.startswith("hardware.") or name in DERIVED
    }
    names |= {name for name, derived in DERIVED.items() if concept in derived.needs}
    for name in sorted(names):
        try:
            value = view.value(name)
        except Missing:
            continue
        unit = DERIVED[name].unit if name in DERIVED else ""
        yield name.removeprefix("hardware."), _fact_text(value, name, unit)


def _fact_text(value: Any, name: str, unit: str) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if unit == "bytes":
            return format_bytes(value)
        if name.endswith("_mib"):
            return f"{value / 1024:.3g} GiB"
        if name.endswith("_gib"):
            return f"{value:.3g} GiB"
        return f"{value:.4g} {unit}".rstrip()
    return str(value)


_KEY = re.compile(
    r"^(?P<space> *)(?P<dashes>(?:- +)*)(?P<quote>[\"']?)(?P<key>[^\s:#\"'{}\[\],&*!|>%@`-][^:#\"']*?|-[^\s:#\"']+)(?P=quote)[ \t]*:(?P<rest>[ \t].*)?$"
)
_TYPED_KEY = re.compile(r"^(?P<space> *)(?P<dashes>(?:- +)*)(?P<word>[\w.-]*)$")
_TYPED_VALUE = re.compile(
    r"^(?P<space> *)(?P<dashes>(?:- +)*)(?P<quote>[\"']?)(?P<key>[^\s:#\"'][^:#\"']*?)(?P=quote)[ \t]*:[ \t]+(?P<word>[^\s#]*)$"
)


def complete(analysis: Analysis, offset: int) -> list[Offer]:
    """Return the keys or values that can stand at an offset, likeliest first.

    While a key is being typed the text is mostly no YAML, so the place is told by indentation; flow style is left
    alone.
    """
    if analysis.basis is None:
        return []
    source = analysis.source
    line, column = source.position(offset)
    rows = source.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    begun, ended = rows[line - 1][: column - 1], rows[line - 1][column - 1 :]
    found = _TYPED_VALUE.match(begun)
    if found is not None:
        path = _path_above(rows, line - 1, len(found["space"]), len(found["dashes"]))
        word = found["word"]
        return _value_offers(analysis, (*path, found["key"]), word, offset - len(word), offset)
    found = _TYPED_KEY.match(begun)
    if found is None:
        return []
    path = _path_above(rows, line - 1, len(found["space"]), len(found["dashes"]))
    word = found["word"]
    rest = re.match(r"[\w.-]*", ended)
    after = rest.group() if rest else ""
    has_colon = ended[len(after) :].lstrip().startswith(":")
    present = _sibling_keys(rows, line - 1, len(found["space"]) + len(found["dashes"]))
    return _key_offers(
        analysis, path, word + after, present, offset - len(word), offset + len(after), colon=not has_colon
    )


def _path_above(rows: Sequence[str], row: int, space: int, dashes: int) -> KeyPath:
    """Return the key path of the mapping that holds a line, by its indentation."""
    steps: list[str | int] = []
    limit = space + dashes
    if dashes:
        steps.append(0)
        limit = space + 1
    for number in range(row - 1, -1, -1):
        if limit <= 0:
            break
        line = rows[number]
        if line.startswith("---"):
            break
        found = _KEY.match(line)
        if found is None:
            continue
        left = len(found["space"])
        column = left + len(found["dashes"])
        if column < limit:
            steps.append(found["key"])
            limit = column
            if found["dashes"]:
                steps.append(0)
                limit = left + 1
        elif found["dashes"] and column == limit:
            steps.append(0)
            limit = left + 1
    return tuple(reversed(steps))


def _sibling_keys(rows: Sequence[str], row: int, column: int) -> set[str]:
    """Return the keys at the same column in the mapping of a line."""
    found: set[str] = set()
    for step in (-1, 1):
        number = row + step
        while 0 <= number < len(rows):
            match = _KEY.match(rows[number])
            if match is not None:
                place = len(match["space"]) + len(match["dashes"])
                if place < column:
                    break
                if place == column:
                    found.add(match["key"])
                    if match["dashes"]:
                        break
            number += step
    return found


def _key_offers(
    analysis: Analysis,
    path: KeyPath,
    word: str,
    present: set[str],
    start: int,
    end: int,
    *,
    colon: bool,
) -> list[Offer]:
    assert analysis.basis is not None
    target = analysis.basis.target
    schema = target.schema
    names = dict.fromkeys(schema.keys(path) if schema is not None else ())
    names.update(dict.fromkeys(_by_concepts(target.dialect, path)))
    names.update(dict.fromkeys(_asked_in(analysis.basis.code_facts, path)))
    offers: list[Offer] = []
    for name, slip in _rank_names(word, [name for name in names if name not in present or name == word]):
        about = schema.describe((*path, name)) if schema is not None else None
        nested = bool(schema is not None and schema.keys((*path, name))) or (
            about is not None and about.types == frozenset({"object"})
        )
        concept = target.dialect.concept_of((*path, name))
        detail = (about.expected if about is not None else None) or concept or ""
        offers.append(
            Offer(
                name,
                spell(name) + (":" if nested else ": ") if colon else spell(name),
                f"did you mean {name}? {detail}".rstrip() if slip else detail,
                (about.text if about is not None else None) or meaning(concept or ""),
                "key",
                start,
                end,
                slip,
            )
        )
    return offers


def _by_concepts(dialect: Dialect, path: KeyPath) -> Iterator[str]:
    """Yield the next key below a path in each key path of a concept."""
    for patterns in dialect.concepts.values():
        for pattern in patterns:
            if len(pattern) > len(path) and matches(pattern[: len(path)], path):
                step = pattern[len(path)]
                if isinstance(step, str):
                    yield step


def _asked_in(code_facts: CodeFacts | None, path: KeyPath) -> Iterator[str]:
    """Yield the keys below a path that the code asks for.

    Keys that the config lacks come before those that the code reads.
    """
    for key, _ in (*code_facts.asked, *code_facts.reads) if code_facts is not None else ():
        if len(key) > len(path) and key[: len(path)] == path and isinstance(key[len(path)], str):
            yield str(key[len(path)])


def _value_offers(analysis: Analysis, path: KeyPath, word: str, start: int, end: int) -> list[Offer]:
    assert analysis.basis is not None
    schema = analysis.basis.target.schema
    about = schema.describe(path) if schema is not None else None
    code_facts = analysis.basis.code_facts
    values = {spell(value): "" for value in about.enum} if about is not None else {}
    if not values and about is not None and about.types == frozenset({"boolean"}):
        values = dict.fromkeys(("true", "false"), "")
    if code_facts is not None:
        for known, call in allowed_texts(path, code_facts).items():
            values.setdefault(spell(known), call)
    if about is not None and about.default is not MISSING and not isinstance(about.default, (dict, list)):
        values[spell(about.default)] = "default"
    return [
        Offer(
            text,
            text,
            ("did you mean this? " if slip else "") + values[text],
            (about.text if about is not None else None) or "",
            "value",
            start,
            end,
            slip,
        )
        for text, slip in _rank_names(word.strip("\"'"), list(values))
    ]


def _rank_names(word: str, names: Sequence[str]) -> list[tuple[str, bool]]:
    """Return names that complete a word, then names that the word may misspell.

    The second of each pair tells a misspelling. All names for an empty word.
    """
    if not word:
        return [(name, False) for name in names[:MAX_VALUES]]
    low = word.casefold()
    begun = [name for name in names if name.casefold().startswith(low)]
    inside = [name for name in names if low in name.casefold() and name not in begun]
    slips = [name for name in _names_like(word, names) if name not in begun and name not in inside]
    return [*((name, False) for name in (*begun, *inside)[:MAX_VALUES]), *((name, True) for name in slips)]


def _names_like(word: str, names: Sequence[str]) -> list[str]:
    """Return the names that a word, complete or begun, may misspell."""
    found = closest(word, names)
    if not found and len(word) >= 3:
        heads: dict[str, str] = {}
        for name in names:
            heads.setdefault(name[: len(word)], name)
        found = [heads[head] for head in closest(word, heads)]
    return found


__all__ = ["Hover", "Offer", "complete", "hover"]
