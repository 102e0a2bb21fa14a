"""Keys that a mapping holds twice, and merge keys: YML007 and YML011."""

from __future__ import annotations

from cfgfix.documents.compose import Kind as NodeKind
from cfgfix.documents.compose import Node, deref, is_merge
from cfgfix.documents.resolve import resolve
from cfgfix.edits import Change, DeleteKey, ReplaceText
from cfgfix.findings import KeyPath
from cfgfix.pitfalls.hit import Context, Hit

MAX_SHOWN = 5
"""Most earlier places or lost keys that one finding names."""

_MISSING = object()


def identity(key: Node, context: Context) -> object:
    """Return what a dict would compare a key by: the loaded value, or a marker for keys that are no scalars."""
    if key.kind != NodeKind.SCALAR or (key.tag is not None and not key.tag.endswith(":str")):
        return _MISSING
    if key.style or key.tag is not None:
        return key.text
    resolved = resolve(key.text, context.loader)
    return _MISSING if resolved.tag == "merge" else resolved.value


def duplicates(mapping: Node, context: Context) -> dict[object, list[int]]:
    """Return the positions of entries with equal keys, for keys that occur more than once."""
    places: dict[object, list[int]] = {}
    for position, (key, _value) in enumerate(mapping.items):
        same = identity(key, context)
        if same is not _MISSING:
            places.setdefault(same, []).append(position)
    return {key: positions for key, positions in places.items() if len(positions) > 1}


def duplicate_key(
    mapping: Node, positions: list[int], context: Context, path: KeyPath, document: int
) -> tuple[str, Hit]:
    """YML007: one finding for all occurrences of a key, at the last one, which is the one that counts.

    Deleting the earlier ones leaves what PyYAML loads as it is. It is held back where a person should look first:
    under a loader that refuses the file (nobody can say which value was meant), and where a whole section would go
    that says other things than the one that counts.
    """
    text = context.document.source.text
    last_key, last_value = mapping.items[positions[-1]]
    last_text = _value_text(last_value, text)
    earlier = [mapping.items[position] for position in positions[:-1]]
    related = tuple(
        (key.start, key.end, f"the first `{key.text}`" if number == 0 else f"`{key.text}` again")
        for number, (key, _value) in enumerate(earlier[:MAX_SHOWN])
    )
    refuses = context.loader.duplicate_keys == "error"
    last_read = _scalar(last_value, context)
    equal = all(
        _value_text(value, text) == last_text
        or (last_read is not _MISSING and _scalar(value, context) == last_read)
        for _key, value in earlier
    )
    plain = all(value.kind == NodeKind.SCALAR for _key, value in earlier)
    values: dict[str, object] = {
        "loader": context.loader.title,
        "word": last_key.text,
        "count": len(positions),
        "effect": "refuses the file" if refuses else "keeps only the last one",
    }
    here = (*path, last_key.text)
    if any(_holds_anchor(value) for _key, value in earlier):
        return "duplicate_key", Hit(
            last_key.start, last_key.end, here, values, related=related,
            no_fix="an earlier one holds an anchor that may be used elsewhere",
        )  # fmt: skip
    same_text = all(key.text == last_key.text for key, _value in earlier)
    if not same_text:
        return "duplicate_key", Hit(
            last_key.start, last_key.end, here, values, related=related,
            no_fix="the keys are spelled differently; remove one of them by hand",
        )  # fmt: skip
    changes: tuple[Change, ...] = tuple(
        DeleteKey(here, occurrence, document) for occurrence in range(len(positions) - 1)
    )
    safe = equal or (plain and not refuses)
    return "duplicate_key", Hit(
        last_key.start,
        last_key.end,
        here,
        values,
        changes,
        related,
        severity="warning" if equal and not refuses else None,
        safety="safe" if safe else "unsafe",
        title="Remove the earlier ones" if len(earlier) > 1 else "Remove the earlier one",
        notes=()
        if equal
        else (
            "The values differ: "
            + ", ".join(
                _shorten(value, text) for _key, value in (*earlier[:MAX_SHOWN], (last_key, last_value))
            )
            + ".",
        ),
    )


def _scalar(value: Node, context: Context) -> object:
    """Return the type and value of a plain or quoted scalar without a tag, else `_MISSING`."""
    if value.kind != NodeKind.SCALAR or value.tag is not None:
        return _MISSING
    if value.style:
        return "str", value.text
    resolved = resolve(value.text, context.loader)
    return _MISSING if resolved.error is not None else (resolved.tag, resolved.value)


def _value_text(value: Node, text: str) -> str:
    return text[value.start : value.end].strip()


def _shorten(value: Node, text: str) -> str:
    if value.kind not in (NodeKind.SCALAR, NodeKind.ALIAS):
        return f"a section with {len(value.items)} entries"
    raw = _value_text(value, text)
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
    """YML011: several merge keys in one mapping, or an override that silently drops entries of a merged section."""
    entries = [(key, value) for key, value in mapping.items if is_merge(key)]
    if len(entries) > 1:
        return [_several(mapping, entries, context, path)]
    return _shallow(mapping, entries[0], context, path) if entries else []


def _several(
    mapping: Node, entries: list[tuple[Node, Node]], context: Context, path: KeyPath
) -> tuple[str, Hit]:
    text = context.document.source.text
    last_key = entries[-1][0]
    values: dict[str, object] = {
        "loader": context.loader.title,
        "problem": f"{len(entries)} of them in one mapping; "
        + (
            "this loader refuses the file"
            if context.loader.duplicate_keys == "error"
            else "ruamel.yaml refuses the file"
        ),
    }
    related = tuple(
        (key.start, key.end, "the first `<<`" if not number else "`<<` again")
        for number, (key, _value) in enumerate(entries[:-1][:MAX_SHOWN])
    )
    here = (*path, "<<")
    lines = [_own_line(key, value, text) for key, value in entries]
    if mapping.style or any(value.kind != NodeKind.ALIAS for _key, value in entries) or not all(lines[1:]):
        return "merge_key_pitfall", Hit(
            last_key.start,
            last_key.end,
            here,
            values,
            related=related,
            no_fix="write one `<<` with a list of all of them",
        )
    names = list(dict.fromkeys(text[value.start : value.end] for _key, value in reversed(entries)))
    first = entries[0][1]
    changes: list[Change] = [
        ReplaceText(first.start, first.end, "[" + ", ".join(names) + "]" if len(names) > 1 else names[0])
    ]
    changes += [ReplaceText(line[0], line[1], "") for line in lines[1:] if line is not None]
    return "merge_key_pitfall", Hit(last_key.start, last_key.end, here, values, tuple(changes), related)


def _own_line(key: Node, value: Node, text: str) -> tuple[int, int] | None:
    """Return the span of the entry's line when nothing but the entry stands on it."""
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


def _shallow(
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
            related = ((key.start, key.end, "the merged section"),)
            found.append(
                (
                    "merge_key_pitfall",
                    Hit(
                        own_key.start, own_key.end, (*path, own_key.text), values, related=related,
                        severity="info", confidence="medium",
                        no_fix="a shallow override may be meant; merge the inner section too if it is not",
                    ),
                )
            )  # fmt: skip
    return found
