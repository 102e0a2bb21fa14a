"""Keys that a mapping holds twice, and merge keys."""

from __future__ import annotations

from cfgfix.config.document.compose import BREAKS, MAPPING, SCALAR, Node, deref, is_merge
from cfgfix.config.document.compose import Kind as NodeKind
from cfgfix.config.document.merging import Flattener, Order, written_in
from cfgfix.config.loaders.scalars import resolve
from cfgfix.config.values.context import Context
from cfgfix.core.edits import Change, DeleteKey, ReplaceText
from cfgfix.core.findings import KeyPath
from cfgfix.core.records import dataclass
from cfgfix.rules.hit import Hit, Span

MAX_SHOWN = 5
"""Most earlier places or lost keys that one finding names."""

MAX_DEPTH = 32
"""Deepest level down to which two values are compared."""
MAX_ENTRIES = 1000
"""Most entries of a section that are looked for in another one."""

_MISSING = object()


def identity(key: Node, context: Context) -> object:
    """Return the value by which a dict tells a key from others.

    A marker for merge keys and keys that are no scalars.
    """
    if key.kind != NodeKind.SCALAR or (key.tag is not None and not key.tag.endswith(":str")):
        return _MISSING
    if key.style or key.tag is not None:
        return key.text
    resolved = resolve(key.text, context.loader)
    return _MISSING if resolved.tag == "merge" else resolved.value


def duplicates(mapping: Node, context: Context) -> dict[object, list[int]]:
    """Return the positions of entries with equal keys, by key.

    Keys that occur once are left out.
    """
    places: dict[object, list[int]] = {}
    for position, (key, _value) in enumerate(mapping.items):
        same = identity(key, context)
        if same is not _MISSING:
            places.setdefault(same, []).append(position)
    return {key: positions for key, positions in places.items() if len(positions) > 1}


def duplicate_key(
    mapping: Node, positions: list[int], context: Context, path: KeyPath, document: int
) -> tuple[str, Hit]:
    """Return the hit of a key that occurs more than once.

    It stands at the last occurrence, whose value counts.

    A program sees the key where it stands first, with the value that stands last. A safe fix keeps both; a section
    that says what the last one does not is never removed.
    """
    last_key, last_value = mapping.items[positions[-1]]
    text = context.document.source.text
    earlier = [mapping.items[position] for position in positions[:-1]]
    related = tuple(
        Span(key.start, key.end, label=f"the first `{key.text}`" if number == 0 else f"`{key.text}` again")
        for number, (key, _value) in enumerate(earlier[:MAX_SHOWN])
    )
    refuses = context.loader.duplicate_keys == "error"
    equal = all(_load_alike(value, last_value, context) for _key, value in earlier)
    values: dict[str, object] = {
        "loader": context.loader.title,
        "word": last_key.text,
        "count": len(positions),
        "effect": "refuses the file" if refuses else "keeps only the last one",
    }
    shown = ", ".join(
        _shortened_value(value, text) for _key, value in (*earlier[:MAX_SHOWN], (last_key, last_value))
    )
    here = (*path, last_key.text)
    removal = _removal_of_repeats(mapping, positions, context, here, document, equal=equal)
    return "duplicate_key", Hit(
        Span(last_key.start, last_key.end, here),
        values,
        removal.changes,
        related,
        severity="warning" if equal and not refuses else None,
        safety="safe" if removal.safe and (equal or not refuses) else "unsafe",
        title=removal.title,
        no_fix=removal.no_fix,
        notes=() if equal else (f"The values differ: {shown}.",),
    )


@dataclass(frozen=True, slots=True)
class _KeyRemoval:
    """The changes that make a repeated key a single one, or why there are none."""

    changes: tuple[Change, ...] = ()
    title: str | None = None
    safe: bool = False
    no_fix: str | None = None


def _removal_of_repeats(
    mapping: Node, positions: list[int], context: Context, here: KeyPath, document: int, *, equal: bool
) -> _KeyRemoval:
    entries = [mapping.items[position] for position in positions]
    last_key, last_value = entries[-1]
    if any(key.text != last_key.text for key, _value in entries):
        return _KeyRemoval(no_fix="the keys are spelled differently; remove one of them by hand")
    gone = entries[1:] if equal else entries[:-1]
    if any(_holds_anchor(value) for _key, value in gone):
        return _KeyRemoval(no_fix="one that would go holds an anchor that may be used elsewhere")
    several = "s" if len(gone) > 1 else ""
    if equal:
        later = tuple(DeleteKey(here, place, document) for place in range(1, len(positions)))
        return _KeyRemoval(later, f"Remove the later one{several}", safe=True)
    if any(_says_more(value, last_value, context) for _key, value in gone):
        return _KeyRemoval(no_fix="the sections say different things; put them together by hand")
    title = f"Remove the earlier one{several}"
    earlier = tuple(DeleteKey(here, place, document) for place in range(len(positions) - 1))
    plain = all(
        deref(value).kind is SCALAR or _is_contained(value, last_value, context) for _key, value in gone
    )
    if positions[-1] - positions[0] == len(positions) - 1:
        return _KeyRemoval(earlier, title, safe=plain)
    moved = _last_moved_to_first(mapping, positions, context.document.source.text)
    if moved:
        return _KeyRemoval(moved, "Write the last value at the first place", safe=plain)
    return _KeyRemoval(earlier, title)


def _last_moved_to_first(mapping: Node, positions: list[int], text: str) -> tuple[Change, ...]:
    """Return changes that put the last of equal keys in the place of the first.

    Empty where the layout is in the way.
    """
    if mapping.flow:
        return _moved_in_flow(mapping, positions, text)
    lines = [_line_of_entry(mapping.items[position], text) for position in positions]
    if not all(line.whole for line in lines[1:]) or not lines[0].ends:
        return ()
    last = mapping.items[positions[-1]][0]
    first = mapping.items[positions[0]][0]
    changes: list[Change] = [ReplaceText(first.start, lines[0].stop, text[last.start : lines[-1].stop])]
    for line in lines[1:]:
        if line.next > line.stop:
            changes.append(ReplaceText(line.start, line.next, ""))
        elif positions[-1] - positions[-2] > 1 and _on_one_line(mapping.items[positions[-1] - 1], text):
            # The last line of a text without a final line break: the break before it goes instead.
            before = line.start - (2 if text.endswith("\r\n", 0, line.start) else 1)
            changes.append(ReplaceText(before, line.stop, ""))
        else:
            return ()
    return tuple(changes)


def _moved_in_flow(mapping: Node, positions: list[int], text: str) -> tuple[Change, ...]:
    first, last = mapping.items[positions[0]], mapping.items[positions[-1]]
    if not all(_on_one_line(mapping.items[position], text) for position in positions):
        return ()
    changes: list[Change] = [ReplaceText(first[0].start, first[1].end, text[last[0].start : last[1].end])]
    for position in positions[1:]:
        before = mapping.items[position - 1]
        start, end = max(before[0].end, before[1].end), mapping.items[position][1].end
        if text[start : mapping.items[position][0].start].strip(" ") != ",":
            return ()
        changes.append(ReplaceText(start, end, ""))
    return tuple(changes)


def _on_one_line(entry: tuple[Node, Node], text: str) -> bool:
    key, value = entry
    return key.end < value.end and not any(mark in text[key.start : value.end] for mark in BREAKS)


@dataclass(frozen=True, slots=True)
class _EntryLine:
    """The line of an entry: its span, where the next begins, what else stands on it."""

    start: int
    stop: int
    next: int
    ends: bool
    """Whether the entry stands on one line and only a comment follows it there."""
    whole: bool
    """Whether besides that only spaces stand before it."""


def _line_of_entry(entry: tuple[Node, Node], text: str) -> _EntryLine:
    key, value = entry
    start = key.start
    while start > 0 and text[start - 1] == " ":
        start -= 1
    stop = end = max(key.end, value.end)
    while stop < len(text) and text[stop] not in BREAKS:
        stop += 1
    rest = text[end:stop]
    ends = (
        (not rest.strip(" \t") or (rest[0] in " \t" and rest.lstrip(" \t")[0] == "#"))
        and _on_one_line(entry, text)
        and value.style not in ("|", ">")
        and (stop == len(text) or text[stop] in "\r\n")
    )
    following = stop + (2 if text.startswith("\r\n", stop) else 1 if stop < len(text) else 0)
    return _EntryLine(start, stop, following, ends, ends and (start == 0 or text[start - 1] in "\r\n"))


def _load_alike(one: Node, other: Node, context: Context, depth: int = 0) -> bool:
    """Tell whether two values load as equal data, with equal types and order of keys."""
    one, other = deref(one), deref(other)
    if one is other:
        return True
    if one.kind is not other.kind or one.tag != other.tag or depth > MAX_DEPTH:
        return False
    if one.kind is SCALAR:
        if one.tag is not None:
            return one.text == other.text and bool(one.style) is bool(other.style)
        read = _type_and_value(one, context)
        return read is not _MISSING and repr(read) == repr(_type_and_value(other, context))
    pairs = (
        [part for entry in zip(one.items, other.items, strict=False) for part in zip(*entry, strict=True)]
        if one.kind is MAPPING
        else list(zip(one.items, other.items, strict=False))
    )
    return len(one.items) == len(other.items) and all(
        _load_alike(left, right, context, depth + 1) for left, right in pairs
    )


def _says_more(value: Node, last: Node, context: Context) -> bool:
    """Tell whether a section has an entry that the last one lacks or has otherwise."""
    return (
        deref(value).kind is MAPPING and bool(deref(value).items) and not _is_contained(value, last, context)
    )


def _is_contained(value: Node, last: Node, context: Context) -> bool:
    """Tell whether every entry of a section stands in the last section, too."""
    inner, outer = deref(value), deref(last)
    if inner.kind is not MAPPING or outer.kind is not MAPPING or len(inner.items) > MAX_ENTRIES:
        return inner.kind is MAPPING and not inner.items
    known = {key.text: (key, own) for key, own in outer.items if key.kind is SCALAR}
    return all(
        key.kind is SCALAR
        and key.text in known
        and _load_alike(key, known[key.text][0], context)
        and _load_alike(own, known[key.text][1], context)
        for key, own in inner.items
    )


def _type_and_value(value: Node, context: Context) -> object:
    """Return type and value of a scalar without a tag; `_MISSING` for other nodes."""
    if value.kind != NodeKind.SCALAR or value.tag is not None:
        return _MISSING
    if value.style:
        return "str", value.text
    resolved = resolve(value.text, context.loader)
    return _MISSING if resolved.error is not None else (resolved.tag, resolved.value)


def _shortened_value(value: Node, text: str) -> str:
    if value.kind not in (NodeKind.SCALAR, NodeKind.ALIAS):
        return f"a section with {len(value.items)} {'entry' if len(value.items) == 1 else 'entries'}"
    raw = text[value.start : value.end].strip()
    return (raw if len(raw) <= 40 else raw[:37] + "...") or "nothing"


def _holds_anchor(node: Node) -> bool:
    pending = [node]
    while pending:
        current = pending.pop()
        if current.anchor is not None and current.kind != NodeKind.ALIAS:
            return True
        if current.kind == NodeKind.MAPPING:
            for key, value in current.items:
                pending += (key, value)
        elif current.kind == NodeKind.SEQUENCE:
            pending += current.items
    return False


def merges(mapping: Node, context: Context, path: KeyPath) -> list[tuple[str, Hit]]:
    """Return the hits of merge keys that do not do what they seem to.

    There may be several in one mapping, values that differ by release of PyYAML, or a merged section that is replaced.
    """
    entries = [(key, value) for key, value in mapping.items if is_merge(key)]
    if not entries:
        return []
    differing = _keys_by_release(mapping, entries, context)
    if len(entries) > 1:
        return [_duplicate_keys_hit(mapping, entries, context, path, differing)]
    found = _shallow_hits(mapping, entries[0], context, path)
    if differing:
        key = entries[0][0]
        values: dict[str, object] = {"loader": context.loader.title, "problem": _difference_text(differing)}
        no_fix = "write the value that is meant beside the `<<`"
        hit = Hit(Span(key.start, key.end, (*path, "<<")), values, no_fix=no_fix)
        found.insert(0, ("merge_key_pitfall", hit))
    return found


def _keys_by_release(
    mapping: Node, entries: list[tuple[Node, Node]], context: Context
) -> list[tuple[str, str, str]]:
    """Return the keys that older releases of PyYAML and 6.0.4 read differently.

    Each is the key, the value of the older ones, and that of 6.0.4.
    """
    if context.loader.yaml_version != "1.1" or context.document.recursive is not None:
        return []
    targets = [deref(value) for _key, value in entries]
    parts = [
        deref(part)
        for target in targets
        for part in (target.items if target.kind == NodeKind.SEQUENCE else [target])
    ]
    parts = [part for part in parts if part.kind == NodeKind.MAPPING]
    if len(parts) == 1 and not any(is_merge(key) for key, _value in parts[0].items):
        return []
    orders = Flattener(Order.LISTS_REVERSED, written_in), Flattener(Order.AS_WRITTEN, written_in)

    def read(node: Node) -> list[dict[str, Node]]:
        return [
            {
                key.text: each.entry.value
                for each in order.flatten(node)
                if (key := deref(each.entry.key)).kind == NodeKind.SCALAR
            }
            for order in orders
        ]

    older, newer = read(mapping)
    text = context.document.source.text
    differing = {
        name: (value, newer[name])
        for name, value in older.items()
        if name in newer and _value_text(value, text) != _value_text(newer[name], text)
    }
    for part in parts if differing else ():
        # What differs in a merged section is told there.
        inner, after = read(part)
        for name, value in inner.items():
            if name in differing and differing[name] == (value, after.get(name)):
                del differing[name]
    return [
        (name, _shortened_value(deref(old), text), _shortened_value(deref(new), text))
        for name, (old, new) in differing.items()
    ]


def _value_text(value: Node, text: str) -> str:
    return text[value.start : value.end].strip()


def _difference_text(differing: list[tuple[str, str, str]]) -> str:
    name, old, new = differing[0]
    more = f", and {len(differing) - 1} more such" if len(differing) > 1 else ""
    return f"`{name}` is {old} to PyYAML up to 6.0.3 and {new} to PyYAML 6.0.4{more}"


def _duplicate_keys_hit(
    mapping: Node,
    entries: list[tuple[Node, Node]],
    context: Context,
    path: KeyPath,
    differing: list[tuple[str, str, str]],
) -> tuple[str, Hit]:
    text = context.document.source.text
    last_key = entries[-1][0]
    severity: str | None = None
    if context.loader.duplicate_keys == "error":
        effect = "; this loader refuses the file"
    elif context.ruamel:
        effect = "; ruamel.yaml, which is used here too, refuses the file"
    elif differing:
        effect = "; " + _difference_text(differing)
    else:
        effect = ", where YAML allows a key once; PyYAML merges them all"
        severity = "info"
    values: dict[str, object] = {
        "loader": context.loader.title,
        "problem": f"{len(entries)} of them in one mapping{effect}",
    }
    related = tuple(
        Span(key.start, key.end, label="the first `<<`" if not number else "`<<` again")
        for number, (key, _value) in enumerate(entries[:-1][:MAX_SHOWN])
    )
    here = (*path, "<<")

    def unfixed(reason: str) -> tuple[str, Hit]:
        hit = Hit(
            Span(last_key.start, last_key.end, here),
            values,
            related=related,
            severity=severity,
            no_fix=reason,
        )
        return "merge_key_pitfall", hit

    lines = [_own_line(key, value, text) for key, value in entries]
    if mapping.style or any(value.kind != NodeKind.ALIAS for _key, value in entries) or not all(lines[1:]):
        return unfixed("write one `<<` with a list of all of them")
    shared = _shared_key([deref(value) for _key, value in entries], text)
    if shared is not None:
        return unfixed(
            f"they share `{shared}`, and which one wins in a list depends on the PyYAML release; write its value here"
        )
    names = list(dict.fromkeys(text[value.start : value.end] for _key, value in entries))
    first = entries[0][1]
    changes: list[Change] = [
        ReplaceText(first.start, first.end, "[" + ", ".join(names) + "]" if len(names) > 1 else names[0])
    ]
    changes += [ReplaceText(line[0], line[1], "") for line in lines[1:] if line is not None]
    return "merge_key_pitfall", Hit(
        Span(last_key.start, last_key.end, here), values, tuple(changes), related, severity=severity
    )


def _shared_key(sections: list[Node], text: str) -> str | None:
    """Return a key to which two merged sections give different values, or None."""
    flattener = Flattener(Order.AS_WRITTEN, written_in)
    known: dict[str, str] = {}
    for section in {id(section): section for section in sections}.values():
        for each in flattener.flatten(section) if section.kind == NodeKind.MAPPING else ():
            name = _value_text(deref(each.entry.key), text)
            value = _value_text(each.entry.value, text)
            if known.setdefault(name, value) != value:
                return name
    return None


def _own_line(key: Node, value: Node, text: str) -> tuple[int, int] | None:
    """Return the span of an entry's line, or None where something else stands there."""
    start = key.start
    while start > 0 and text[start - 1] == " ":
        start -= 1
    end = value.end
    while end < len(text) and text[end] == " ":
        end += 1
    if start > 0 and text[start - 1] not in "\r\n":
        return None
    if text.startswith("\r\n", end):
        return start, end + 2
    if end < len(text) and text[end] in "\r\n":
        return start, end + 1
    return None


def _shallow_hits(
    mapping: Node, entry: tuple[Node, Node], context: Context, path: KeyPath
) -> list[tuple[str, Hit]]:
    merge_key, merged = entry
    sources = [deref(merged)]
    if sources[0].kind == NodeKind.SEQUENCE:
        sources = [deref(item) for item in sources[0].items]
    found: list[tuple[str, Hit]] = []
    own = {
        key.text: (key, deref(value))
        for key, value in mapping.items
        if key.kind == NodeKind.SCALAR and key is not merge_key
    }
    seen: set[str] = set()
    for source in sources:
        if source.kind != NodeKind.MAPPING:
            continue
        for key, value in source.items:
            if key.kind != NodeKind.SCALAR or key.text not in own or key.text in seen:
                continue
            seen.add(key.text)
            inner = deref(value)
            own_key, own_value = own[key.text]
            if inner.kind != NodeKind.MAPPING or own_value.kind != NodeKind.MAPPING or inner is own_value:
                continue
            if any(is_merge(each) for each, _value in own_value.items):
                continue
            kept = {each.text for each, _value in own_value.items}
            lost = [each.text for each, _value in inner.items if each.text not in kept]
            if not lost or not kept & {each.text for each, _value in inner.items}:
                continue
            shown = ", ".join(f"`{name}`" for name in lost[:MAX_SHOWN]) + (
                " and others" if len(lost) > MAX_SHOWN else ""
            )
            values: dict[str, object] = {
                "loader": context.loader.title,
                "problem": f"merging is shallow, so `{own_key.text}` here replaces the merged section and {shown} "
                + ("are" if len(lost) > 1 else "is")
                + " gone",
            }
            related = (Span(key.start, key.end, label="the merged section"),)
            found.append(
                (
                    "merge_key_pitfall",
                    Hit(Span(own_key.start, own_key.end, (*path, own_key.text)), values, related=related, severity="info", confidence="medium", no_fix="a shallow override may be meant; merge the inner section too if it is not"),
                )
            )  # fmt: skip
    return found
