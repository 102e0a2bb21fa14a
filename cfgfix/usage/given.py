"""What the configs of a project give to the calls of its code, for the rules about code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from cfgfix.code.model.given import SPREAD, CallPlace, GivenByConfigs, GivenValue
from cfgfix.config.dialects.parameters import Reached
from cfgfix.config.document.compose import SCALAR, Document, compose, deref
from cfgfix.config.loaders.scalars import LOADERS, resolve
from cfgfix.core.errors import UnreadableError
from cfgfix.core.findings import KeyPath, Location, format_key_path
from cfgfix.core.source_file import SourceFile, read_source
from cfgfix.usage.code_facts import CodeFacts
from cfgfix.usage.project_code import ProjectCode

Branches = dict[CallPlace, tuple[bool, GivenValue]]
Calls = dict[CallPlace, dict[int | str, GivenValue]]


def values_given_by_configs(
    code: ProjectCode,
    texts: Mapping[str, str] = MappingProxyType({}),
    *,
    others: frozenset[str] = frozenset(),
) -> list[GivenByConfigs]:
    """Return the values that each config gives to calls and branches.

    Configs with the same values form one group; groups with most calls come first.

    Args:
        code: The code of a repository.
        texts: Texts of edited Python files and configs, by path.
        others: The paths in `texts` that are configs.
    """
    found: dict[object, tuple[list[str], Calls, Branches]] = {}
    edited = {os.path.abspath(path): text for path, text in texts.items()}
    for path, says in (code.all_with(texts, others) if texts else code.all()).items():
        if not says.framework:
            continue
        shown = os.path.relpath(os.path.join(code.root, path))
        text = edited.get(os.path.abspath(shown))
        try:
            document = compose(read_source(shown) if text is None else SourceFile.from_text(text, shown))
        except UnreadableError:
            continue
        calls = dict(_calls_with_values(document, says))
        branches = dict(_branches_decided(document, says))
        if not calls and not branches:
            continue
        values = tuple(
            sorted(
                (place, str(name), repr(one.value))
                for place, given in calls.items()
                for name, one in given.items()
            )
        )
        ways = tuple(sorted((place, taken) for place, (taken, _) in branches.items()))
        found.setdefault((values, ways), ([], calls, branches))[0].append(shown)
    groups = sorted(found.values(), key=lambda group: (-len(group[1]), group[0]))
    return [GivenByConfigs(tuple(sorted(paths)), calls, branches) for paths, calls, branches in groups]


def _branches_decided(
    document: Document, says: CodeFacts
) -> Iterator[tuple[CallPlace, tuple[bool, GivenValue]]]:
    """Yield each `if` that a config decides, with the way taken and the key's value."""
    for item in says.branches:
        entry = document.find(item.path) if document.problem is None else None
        if entry is not None:
            node = deref(entry[1])
            plain = node.kind is SCALAR and not node.style
            value = resolve(node.text, LOADERS[says.loader]).value if plain else node.text
            origin = document.source.location(entry[1].start, entry[1].end)
            given = GivenValue(value, format_key_path(item.path), origin, unchanged=node.kind is SCALAR)
            yield (os.path.abspath(item.module), item.place), (item.taken, given)


def _calls_with_values(
    document: Document, says: CodeFacts
) -> Iterator[tuple[CallPlace, dict[int | str, GivenValue]]]:
    """Yield the calls that get values of a config, with these arguments.

    Arguments that may get several values are left out.
    """
    given: dict[tuple[CallPlace, int | str], list[Reached]] = {}
    for item in says.reached:
        if item.path is not None and item.argument is not None and item.place is not None:
            place = os.path.abspath(item.location.path), item.place
            given.setdefault((place, item.argument), []).append(item)
    found: Calls = {}
    parts: dict[CallPlace, set[KeyPath | None]] = {}
    for (place, argument), items in given.items():
        first = items[0]
        assert first.path is not None
        same = all(
            (item.known or _is_null(document, item))
            and type(item.value) is type(first.value)
            and item.value == first.value
            for item in items
        )
        if isinstance(argument, str) and argument.startswith(SPREAD):
            parts.setdefault(place, set()).update(
                item.path[:-1] if same and item.path else None for item in items
            )
        if not same:
            # Another value arrives there on another way.
            continue
        origin = _location_of_key(document, first.path)
        if origin is not None:
            found.setdefault(place, {})[argument] = GivenValue(
                first.value,
                format_key_path(first.path),
                origin,
                first.unchanged,
                all(item.alone for item in items),
            )
    for place, arguments in found.items():
        sections = parts.get(place, set())
        # Several sections may be spread there, or a part of one may not be known.
        certain = len(sections) <= 1 and None not in sections
        yield (
            place,
            {name: item for name, item in arguments.items() if certain or not str(name).startswith(SPREAD)},
        )


def _is_null(document: Document, item: Reached) -> bool:
    """Tell whether an argument gets the value of a key that says `null`."""
    entry = document.find(item.path) if item.unchanged and item.value is None and item.path else None
    if entry is None or document.problem is not None:
        return False
    node = deref(entry[1])
    return node.kind is SCALAR and not node.style and node.text.lower() in ("null", "~")


def _location_of_key(document: Document, path: KeyPath) -> Location | None:
    entry = document.find(path) if document.problem is None else None
    if entry is None:
        return None
    place: Location = document.source.location(entry[1].start, entry[1].end)
    return place
