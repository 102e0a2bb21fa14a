"""Keys that a schema does not know: what was meant, where it belongs, and how to mend it."""

from __future__ import annotations

from collections.abc import Sequence

from cfgfix.config.document.compose import (
    Kind,
    Node,
    deref,
)
from cfgfix.config.loaders.scalars import resolve
from cfgfix.config.schema.descriptions import choices, value_text
from cfgfix.config.schema.explain_guesses import is_weaker_guess
from cfgfix.config.schema.failures import OPAQUE
from cfgfix.config.schema.judged_document import JudgedDocument
from cfgfix.config.schema.load import Node as SchemaNode
from cfgfix.config.schema.problem import SchemaProblem
from cfgfix.core.edits import Change, DeleteKey, InsertKey, RenameKey
from cfgfix.core.findings import KeyPath, format_key_path
from cfgfix.core.suggest import closest, only_match


class UnknownKeys:
    """Finds the problems of the keys in a document that its schema does not know."""

    def __init__(self, judged: JudgedDocument) -> None:
        self._judged = judged

    def problem(self, path: KeyPath, name: str, schema: SchemaNode) -> SchemaProblem:
        """Return the problem of a key that a mapping has and its schema does not know."""
        whole = (*path, name)
        found = self._judged.find(whole)
        if found is None or found[0] is None:
            start, end = self._judged.mapping_span(path)
            return SchemaProblem(
                "unknown-key", "unknown-key", whole, start, end, f"{_holder_text(path)} has no key `{name}`"
            )
        key, value, shared = found[0], found[1], found[2]
        present = self._judged.entries(deref(self._judged.value_at(path)))
        known = self._judged.schema.keys(path)
        suggestion: str | None = None
        related: list[tuple[int, int, str]] = []
        changes: tuple[Change, ...] = ()
        elsewhere = [place for place in self._judged.schema.places(name) if place[:-1] != path][:3]
        renamed = schema.get("x-renamed", {}).get(name) if isinstance(schema, dict) else None
        former = isinstance(schema, dict) and name in schema.get("x-former", ())
        meant: list[str] = []
        # A key that there was is no slip of the pen.
        if self._judged.may_suggest() and not former:
            meant = closest(name, known)
        near = only_match(name, [each for each in known if each not in present]) if meant else None
        if renamed is not None:
            elsewhere = []
            if renamed in present:
                related.append((*self._judged.key_span(present[renamed][0]), f"`{renamed}` is set here"))
            elif not shared and self._fits_under((*path, renamed), value):
                changes = (RenameKey(whole, renamed, document=self._judged.number),)
        elif near is not None and not (elsewhere and is_weaker_guess(name, near)):
            suggestion = near
            if not shared and self._fits_under((*path, near), value):
                changes = (RenameKey(whole, near, document=self._judged.number),)
        elif meant and not elsewhere and meant[0] in present:
            suggestion = meant[0]
            related.append((*self._judged.key_span(present[meant[0]][0]), f"`{meant[0]}` is set here"))
        elif meant and not elsewhere:
            suggestion = meant[0]
        for place in elsewhere:
            section = self._judged.find(place[:-1]) if len(place) > 1 else None
            label = (
                f"`{name}` belongs to `{format_key_path(place[:-1])}`"
                if len(place) > 1
                else f"`{name}` belongs to the top level"
            )
            if section is not None and section[0] is not None:
                there = self._judged.find(place)
                related.append(
                    (*self._judged.key_span(section[0]), label)
                    if there is None or there[0] is None
                    else (*self._judged.key_span(there[0]), f"{label}, and is set there")
                )
        if suggestion is None and renamed is None and len(elsewhere) == 1 and not shared:
            changes = self._changes_moving_entry(whole, elsewhere[0], value)
        if (
            suggestion is None
            and renamed is None
            and not elsewhere
            and not former
            and self._judged.may_suggest()
        ):
            # The name is wrong and so is the section.
            near = only_match(name, self._judged.schema.names())
            places = self._judged.schema.places(near) if near is not None else []
            if len(places) == 1 and self._judged.schema.expected_types(places[0]) != frozenset({"object"}):
                suggestion = format_key_path(places[0])
                if not shared:
                    changes = self._changes_moving_entry(whole, places[0], value)
        ignored = isinstance(schema, dict) and schema.get("x-unknown") == "ignored"
        message = f"{_holder_text(path)} has no key `{name}`"
        if renamed is not None:
            message += f" any more: the program reads `{renamed}`"
            if ignored:
                message += " now, and ignores this one"
        elif former and ignored:
            message += " any more: the program ignores it now"
        elif former:
            message += " any more: the program dropped it"
        elif ignored:
            message += ", so the program ignores it"
        spoken = self._spoken_key(key)
        if spoken is not None:
            message += f"; {self._judged.loader.title} reads this key as {spoken}"
        if elsewhere and suggestion is None:
            listed = " and ".join(f"`{format_key_path(place)}`" for place in elsewhere)
            message += f"; the schema has {listed}"
        if suggestion is not None:
            message += f"; did you mean `{suggestion}`?"
        start, end = self._judged.key_span(key)
        return SchemaProblem(
            "unknown-key",
            "unknown-key",
            whole,
            start,
            end,
            message,
            _known_keys(known),
            suggestion,
            tuple(related),
            changes,
            pitfall=spoken is not None,
            spelling="key-word" if spoken is not None else None,
            fatal=not ignored,
            mild=ignored and former and not elsewhere and suggestion is None,
            no_fix=None
            if changes
            else self._held_back(
                whole,
                value,
                [*([(*path, renamed or near or meant[0])] if renamed or meant else []), *elsewhere],
                shared=shared,
            )
            or ("nothing has taken its place" if former else None),
        )

    def _held_back(self, path: KeyPath, value: Node, meant: Sequence[KeyPath], *, shared: bool) -> str | None:
        """Return why an unknown key is not moved or renamed, although a known key is near.

        None where no known key is near.
        """
        if not meant:
            return None
        if shared:
            return "other places of the file share the section"
        if len(meant) > 1:
            return "nothing tells which of the places is meant"
        there = self._judged.find(meant[0])
        named = format_key_path(meant[0] if meant[0][:-1] != path[:-1] else meant[0][-1:])
        if there is not None and there[0] is not None:
            return f"`{named}` is set already"
        if not self._fits_under(meant[0], value):
            return f"the value does not fit `{named}`"
        return f"it cannot be moved to `{named}` as it stands"

    def _fits_under(self, path: KeyPath, value: Node) -> bool:
        """Tell whether a value may be right under another key, as far as is known."""
        data = self._judged.instance(value)
        return data is not OPAQUE and all(
            self._judged.schema.accepts(node, data) is not False
            for node in self._judged.schema.nodes(path)[:1]
        )

    def _changes_moving_entry(self, source: KeyPath, target: KeyPath, value: Node) -> tuple[Change, ...]:
        """Return the changes that move an entry to the mapping where it belongs.

        Empty where the entry cannot be moved as it stands.
        """
        section = self._judged.find(target[:-1]) if len(target) > 1 else (None, self._judged.root, False)
        if section is None or section[2] or section[1].kind is not Kind.MAPPING:
            return ()
        if (
            target[-1] in self._judged.entries(section[1])
            or value.kind is Kind.ALIAS
            or value.anchor is not None
        ):
            return ()
        if not isinstance(target[-1], str) or not self._fits_under(target, value):
            return ()
        data = self._judged.instance(value)
        if isinstance(data, dict):
            return ()
        return (
            InsertKey(target[:-1], target[-1], data, document=self._judged.number),
            DeleteKey(source, document=self._judged.number),
        )

    def _spoken_key(self, key: Node) -> str | None:
        """Return a key as the loader reads it, where that is no text; else None."""
        scalar = deref(key)
        if scalar.kind is not Kind.SCALAR or scalar.style or scalar.tag is not None:
            return None
        read = resolve(scalar.text, self._judged.loader)
        return None if read.error is not None or isinstance(read.value, str) else value_text(read.value)


def _holder_text(path: KeyPath) -> str:
    return f"`{format_key_path(path)}`" if path else "the top level"


def _known_keys(names: tuple[str, ...]) -> str | None:
    return choices(list(names)) if names else None
