"""The first draft of a project's own dialect, from its name alone or from one of its configs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cfgfix.config.dialects.dialect import Dialect, parse_pattern
from cfgfix.config.dialects.signatures import Pattern
from cfgfix.config.document.compose import Document, Kind, Node, deref
from cfgfix.core.findings import KeyPath

MAX_TELLING = 12
"""Telling keys that a draft lists: enough to know the family by half of them."""
MAX_DEPTH = 8

_SECOND = frozenset(
    {
        "host_buffer", "device_buffer", "gpu_index", "xla_step", "xla_auto", "mixed_precision_train", "mixed_precision_data",
        "batch_size_train", "batch_size_data", "workers_train", "workers_data",
    }
)  # fmt: skip
"""Concepts that share their keys with a plainer one; which of them holds for a program, only its code says."""

_HEAD = """\
# How cfgfix reads the configs of this project; docs/dialects.md tells every field.
name: {name}
title: {title}
# What reads the file: pyyaml (yaml.safe_load), pyyaml-full, pyyaml-unsafe, pyyaml-unique, pyyaml-floats,
# ruamel, omegaconf, model-garden.
loader: {loader}{why}
# A key that the program does not know: fatal (it stops), ignored (it never looks), free (unknown).
unknown_keys: free
# Key paths whose values the program converts itself, as in float(config["lr"]).
coerces: []
"""
_EMPTY = """
# A file is one of yours when it has a key of every group in `all`, `min_any` of the keys in `any`, and none of `none`.
detect:
  all:
    - [training.my_own_key]
  any: [training.my_own_key, data.my_own_key]
  min_any: 1

# Where each setting lives; the names are in docs/concepts.md.
concepts:
  batch_size: [training.batch_size]
  learning_rate: [training.learning_rate]
"""


def draft(
    name: str,
    known: Mapping[str, Dialect],
    example: Document | None = None,
    *,
    loader: str = "pyyaml",
    why: str = "",
) -> str:
    """Return the text of a `dialect.yaml`.

    Args:
        name: The dialect's name.
        known: The dialects there are: their key names tell which concept a key of the example may be.
        example: A config of the project; without one the draft holds a pattern to fill in.
        loader: What reads the file.
        why: What tells so, for a comment.
    """
    title = name.replace("-", " ").capitalize()
    # A file may have any name; a comment ends with its line.
    remark = "".join(char if char.isprintable() else "?" for char in why)
    text = _HEAD.format(name=name, title=title, loader=loader, why=f"  # {remark}" if remark else "")
    root = (
        next((deref(root) for root in example.roots if deref(root).kind == Kind.MAPPING), None)
        if example
        else None
    )
    if root is None:
        return text + _EMPTY
    sections, telling = _signature_paths(root)
    concepts = _concepts_of_keys(root, known)
    lines = [
        "",
        "# Taken from one config: keep what all of your files have and no other project's.",
        "detect:",
        "  all:",
        *(f"    - [{_quoted_text(section)}]" for section in sections),
        "  any:",
        *(f"    - {_quoted_text(path)}" for path in telling),
        f"  min_any: {max(1, len(telling) // 2)}",
        "",
        "# Guessed from the names of the keys; the names on the left are in docs/concepts.md.",
        "concepts:" if concepts else "concepts: {}",
        *(f"  {concept}: [{', '.join(map(_quoted_text, paths))}]" for concept, paths in concepts.items()),
        "",
    ]
    return text + "\n".join(lines)


def _signature_paths(root: Node) -> tuple[list[str], list[str]]:
    """Return the key paths a config's signature demands, and others to know it by.

    Demanded are sections, or plain keys where the config has no section.
    """
    top = [(key.text, deref(value)) for key, value in root.items if key.kind == Kind.SCALAR]
    sections = [_path_text((name,)) for name, value in top if value.kind == Kind.MAPPING][:3]
    inner = [
        _path_text((name, key.text))
        for name, value in top
        if value.kind == Kind.MAPPING
        for key, _ in value.items[:4]
        if key.kind == Kind.SCALAR
    ]
    flat = [_path_text((name,)) for name, value in top if value.kind != Kind.MAPPING]
    telling = (inner + flat)[:MAX_TELLING]
    return sections or flat[:2], telling or flat


def _concepts_of_keys(root: Node, known: Mapping[str, Dialect]) -> dict[str, list[str]]:
    meanings = _meanings_of_names(known)
    found: dict[str, list[str]] = {}
    for path in _scalar_paths(root, (), 0):
        last = path[-1]
        concept = meanings.get(last) if isinstance(last, str) else None
        if concept is not None:
            found.setdefault(concept, []).append(_path_text(path))
    return found


def _meanings_of_names(known: Mapping[str, Dialect]) -> dict[str, str]:
    """Return the concept of each key name in the known dialects.

    A name at the top level decides; any other counts only where it has one concept.
    """
    bare: dict[str, str] = {}
    seen: dict[str, set[str]] = {}
    generic = known.get("generic")
    for dialect in [generic] if generic is not None else known.values():
        for concept, patterns in dialect.concepts.items():
            for pattern in patterns:
                last = _last_key(pattern)
                if last is not None and concept not in _SECOND:
                    seen.setdefault(last, set()).add(concept)
                    if len(pattern) == 1:
                        bare.setdefault(last, concept)
    return {**{name: min(concepts) for name, concepts in seen.items() if len(concepts) == 1}, **bare}


def _last_key(pattern: Pattern) -> str | None:
    last = pattern[-1]
    return last if isinstance(last, str) and last not in ("name", "type", "config") else None


def _scalar_paths(node: Node, path: KeyPath, depth: int) -> Iterator[KeyPath]:
    if depth > MAX_DEPTH:
        return
    for key, value in node.items:
        if key.kind != Kind.SCALAR:
            continue
        target = deref(value)
        here = (*path, key.text)
        if target.kind == Kind.MAPPING:
            yield from _scalar_paths(target, here, depth + 1)
        elif target.kind == Kind.SCALAR:
            yield here


def _path_text(path: KeyPath) -> str:
    r"""Return a key path as dialect files write it: `a.b`, dots inside a key escaped."""
    steps = []
    for step in path:
        word = "".join("\\" + char if char in "\\.[]" else char for char in str(step))
        steps.append("\\*" if word == "*" else word)
    text = ".".join(steps)
    assert parse_pattern(text)
    return text


def _quoted_text(text: str) -> str:
    return (
        text
        if text.replace("_", "a").replace(".", "a").replace("-", "a").isalnum() and not text[0].isdigit()
        else _single_quoted(text)
    )


def _single_quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
