"""The dialects that a project speaks: those of cfgfix, and what its settings add to them."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable

from cfgfix.config.dialects.detect import exists
from cfgfix.config.dialects.dialect import Dialect, dialects, files_of, from_file, parse_pattern
from cfgfix.config.dialects.signatures import Pattern
from cfgfix.config.document.compose import Document
from cfgfix.config.loaders.scalars import LOADERS
from cfgfix.core.errors import CfgfixError, did_you_mean
from cfgfix.core.records import replace
from cfgfix.rules.catalogue import Catalogue, KnownNames, builtin, with_folders
from cfgfix.rules.compiled import files_below
from cfgfix.settings.reader import Settings


def known_dialects(settings: Settings, problems: list[CfgfixError] | None = None) -> dict[str, Dialect]:
    """Return cfgfix's dialects and those of a project, by name.

    The project's own key paths stand in front.

    Args:
        settings: The project's settings.
        problems: Gets an error for each wrong entry of `keys`, which is then left out.

    Raises:
        CfgfixError: A setting about dialects is wrong.
    """
    known = dict(dialects())
    for place in settings.dialects:
        for path in files_of(settings.inside(place)):
            own = from_file(path)
            known[own.name] = own
    if settings.keys:
        concepts_known = {concept for dialect in known.values() for concept in dialect.concepts}
        extra: dict[str, tuple[Pattern, ...]] = {}
        for concept, paths in settings.keys.items():
            try:
                extra[concept] = _key_paths(concept, paths, concepts_known, settings)
            except CfgfixError as error:
                if problems is None:
                    raise
                problems.append(error)
        for name, dialect in known.items():
            concepts = dict(dialect.concepts)
            for concept, patterns in extra.items():
                concepts[concept] = (
                    *patterns,
                    *(old for old in concepts.get(concept, ()) if old not in patterns),
                )
            known[name] = replace(dialect, concepts=concepts)
    if settings.dialect is not None and settings.dialect not in known:
        raise CfgfixError(
            f"no dialect is called {settings.dialect!r}",
            path=settings.origin,
            hint=did_you_mean(settings.dialect, known, f"known: {', '.join(sorted(known))}"),
        )
    if settings.loader is not None and settings.loader not in LOADERS:
        raise CfgfixError(
            f"no loader is called {settings.loader!r}",
            path=settings.origin,
            hint=f"known: {', '.join(sorted(LOADERS))}",
        )
    return known


def names_for_rules(dialects: Iterable[Dialect]) -> KnownNames:
    """Return the names that rules may use, with some dialects."""
    from cfgfix.config.dialects.derived import DERIVED
    from cfgfix.config.dialects.parameters import concepts_by_code
    from cfgfix.hardware.model import NAMES

    told = list(dialects)
    return KnownNames(
        frozenset(concept for dialect in told for concept in dialect.concepts) | concepts_by_code(),
        frozenset(
            [
                *DERIVED,
                *(fact for dialect in told for fact in dialect.facts if fact != "values"),
                *(f"hardware.{name}" for name in NAMES),
            ]
        ),
    )


def catalogue_of(settings: Settings, dialects: Iterable[Dialect] | None = None) -> Catalogue:
    """Return the catalogue of the built-in rules and those of a project.

    All names in the project's rules must exist.

    Args:
        settings: The project's settings.
        dialects: Its dialects, where they are known already.

    Raises:
        CfgfixError: A rule folder or a setting about dialects is wrong.
    """
    if not settings.rules:
        return builtin()
    if dialects is None:
        dialects = known_dialects(settings).values()
    return with_folders(map(settings.inside, settings.rules), names_for_rules(dialects))


def dialect_inputs(settings: Settings) -> list[str]:
    """Return the paths that a run depends on through the setting `dialects`.

    These are files, folders and schemas.
    """
    found: list[str] = []
    for place in settings.dialects:
        folder = settings.inside(place)
        files = files_of(folder)
        folders = {os.path.dirname(path) for path in files}
        found += [folder, *files, *folders, *files_below(folder, (".json",))]
        found += [os.path.join(below, name) for below in folders for name in sorted(os.listdir(below))]
    return list(dict.fromkeys(found))


def _key_paths(
    concept: str, paths: Iterable[str], known: Collection[str], settings: Settings
) -> tuple[Pattern, ...]:
    """Return the key paths that an entry of the setting `keys` gives a concept.

    Raises:
        CfgfixError: There is no such concept, or a key path is none.
    """
    if concept not in known:
        raise CfgfixError(
            f"keys: {concept!r} is no concept",
            path=settings.origin,
            hint=did_you_mean(concept, known, "see docs/concepts.md"),
        )
    try:
        return tuple(parse_pattern(path) for path in paths)
    except ValueError as error:
        raise CfgfixError(f"keys.{concept}: {error}", path=settings.origin) from error


_KEY_LINE = r"(?m)^[ \t]*[\"']?([A-Za-z_][\w.-]*)[\"']?[ \t]*:"


_MIN_NAMES = 3
"""Telling names a text must have before a file that is no YAML is taken for a broken training config."""


def by_text(text: str, known: dict[str, Dialect]) -> Dialect | None:
    """Return the likely dialect of a text that does not parse, or None.

    The names before colons decide: a key path counts as there when all its names are. All else is as in a text that
    parses.
    """
    names = set(re.findall(_KEY_LINE, text[:200_000]))

    def there(pattern: Pattern) -> bool:
        return all(step in names for step in pattern if isinstance(step, str))

    best, found = 0, None
    for dialect in known.values():
        signature = dialect.signature
        if any(map(there, signature.none_of)) or not all(any(map(there, group)) for group in signature.every):
            continue
        telling = {
            step
            for pattern in (*signature.any_of, *(item for group in signature.every for item in group))
            if there(pattern)
            for step in pattern
            if isinstance(step, str)
        }
        if sum(map(there, signature.any_of)) >= signature.least and len(telling) >= max(_MIN_NAMES, best + 1):
            best, found = len(telling), dialect
    return found


_LABELS = frozenset({"description", "id", "kind", "mode", "name", "path", "title", "type", "version"})
"""Keys that a file of any purpose may have."""
_VAGUE = _LABELS | {
    "cache", "config", "data", "deterministic", "device", "devices", "model", "prefetch", "seed", "size", "workers",
}  # fmt: skip
"""Words that, alone at the top of a file, say nothing about training: a web server has `workers` too."""


def has_training_keys(document: Document, dialect: Dialect) -> bool:
    """Tell whether a document has a key that marks a training config in a dialect.

    One is enough: a person who names a dialect has configs that are too small to be detected.
    """
    telling = [pattern for pattern in _concept_patterns(dialect) if _is_distinctive(pattern)]
    if document.problem is not None:
        names = set(re.findall(_KEY_LINE, document.source.text[:200_000]))
        return any(all(step in names for step in pattern if isinstance(step, str)) for pattern in telling)
    return any(exists(root, pattern) for root in document.roots for pattern in telling)


def _concept_patterns(dialect: Dialect) -> list[Pattern]:
    signature = dialect.signature
    found = [*signature.any_of, *(pattern for group in signature.every for pattern in group)]
    for patterns in dialect.concepts.values():
        found += patterns
    return list(dict.fromkeys(found))


def _is_distinctive(pattern: Pattern) -> bool:
    words = [step for step in pattern if isinstance(step, str)]
    return len(words) > 1 or (bool(words) and words[0] not in _VAGUE)


def is_label(key: str) -> bool:
    """Tell whether a key is a mere label, such as a name, that any file may have."""
    return key in _LABELS
