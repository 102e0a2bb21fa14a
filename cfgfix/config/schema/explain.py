"""Schema errors as a reader needs them: the place, what stands there, what was expected, what was meant.

Imported only for a document that is not known to be valid. `failures` says *where* and *which keyword*, and for the
rare schema that it does not understand jsonschema does, which is imported here and nowhere else; every sentence is
written here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from cfgfix.config.document.compose import (
    TAG_PREFIX,
    Document,
    Kind,
    Node,
    Tagged,
    deref,
    is_merge,
    key_text,
)
from cfgfix.config.document.data import Builder
from cfgfix.config.document.merging import Flattener, order_of, written_in
from cfgfix.config.loaders.scalars import Loader, resolve
from cfgfix.config.schema.descriptions import choices, describe, state, value_text
from cfgfix.config.schema.explain_guesses import branch_distance, is_weaker_guess, likely_readings
from cfgfix.config.schema.failures import OPAQUE, repeated
from cfgfix.config.schema.limited_validator import Error, LimitedValidator, TooMuchWorkError
from cfgfix.config.schema.load import FORBIDDEN, MAX_KEY
from cfgfix.config.schema.load import Node as SchemaNode
from cfgfix.config.schema.problem import SchemaProblem
from cfgfix.core.edits import Change, DeleteKey, InsertKey, RenameKey, SetValue
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import KeyPath, format_key_path
from cfgfix.core.suggest import closest, only_match

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing `typing` costs as much as checking a few files
    from typing import Any

    from cfgfix.config.schema.limited_validator import Schema


MAX_SUGGESTIONS = 200
"""Unknown names of one document for which a meant one is sought."""

_UNSURE = frozenset({"not", "if", "then", "else", "contains", "unevaluatedItems", "unevaluatedProperties"})
"""Keywords that may reject a value because something in it was accepted without being looked at."""

_RANGE = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_SIZE = {
    "minItems": "items",
    "maxItems": "items",
    "minContains": "matching items",
    "maxContains": "matching items",
    "minLength": "characters",
    "maxLength": "characters",
    "minProperties": "keys",
    "maxProperties": "keys",
}


_HUGE = 10**4_000
"""Stands for whole numbers beyond it: Python refuses to write out more than 4,300 digits."""


def explain(
    schema: Schema, document: Document, root: Node, loader: Loader, limit: int
) -> list[SchemaProblem]:
    """Return the places where one YAML document breaks a schema, in text order.

    See `Schema.problems`.
    """
    return _Explainer(schema, document, root, loader, limit).run()


class _Explainer:
    def __init__(self, schema: Schema, document: Document, root: Node, loader: Loader, limit: int) -> None:
        self.schema = schema
        self.loaded = schema.loaded
        self.document = document
        self.text = document.source.text
        self.root = root
        self.number = next((index for index, each in enumerate(document.roots) if each is root), 0)
        self.loader = loader
        self.limit = limit
        self.suggestions = 0
        self.opaque = False
        self.long_keys: list[Node] = []
        self.entries_of: dict[int, dict[str, tuple[Node, Node, bool]]] = {}
        self.built: dict[int, Any] = {}
        self.builder = Builder(document.source, loader)
        self.merging: Flattener | None = None

    def run(self) -> list[SchemaProblem]:
        found: dict[tuple[int, int, str, str], SchemaProblem] = {}
        notes: list[str] = [
            f"the pattern {value_text(text)} of the schema is not checked, because {reason}"
            for text, reason in self.loaded.unchecked[:3]
        ]
        if len(self.loaded.unchecked) > 3:
            notes.append(f"{len(self.loaded.unchecked) - 3} more patterns of the schema are not checked")
        try:
            for error, sure in self.errors(self.instance(self.root)):
                if not sure:
                    continue
                for problem in self.problems(error):
                    found.setdefault((problem.start, problem.end, problem.code, problem.message), problem)
                    if len(found) > self.limit:
                        break
                if len(found) > self.limit:
                    notes.append(f"there are more than {self.limit:,} problems; the rest is not shown")
                    break
        except TooMuchWorkError:
            notes.append("checking took too long and was stopped; the rest of the file is not checked")
        except RecursionError:
            notes.append("the file is nested too deeply for this schema; the rest of it is not checked")
        except Exception as error:
            if type(error).__module__.split(".")[0] not in ("referencing", "jsonschema"):
                raise
            raise CfgfixError(
                f"a reference in the schema leads nowhere: {getattr(error, 'ref', error)}",
                path=self.loaded.origin,
            ) from None
        if self.long_keys:
            notes.append(f"keys of more than {MAX_KEY} characters are not checked")
        result = sorted(found.values(), key=lambda problem: (problem.start, problem.end, problem.code))[
            : self.limit
        ]
        return result + [self.note(text) for text in notes]

    # Data

    def entries(self, mapping: Node) -> dict[str, tuple[Node, Node, bool]]:
        """Return the entries of a mapping by key text, merge keys followed.

        Each is the key node, the value node, and whether it was merged in.
        """
        known = self.entries_of.get(id(mapping))
        if known is not None:
            return known
        source = self.document.source
        found = self.entries_of[id(mapping)] = {}
        if any(is_merge(key) for key, _ in mapping.items):
            if self.merging is None:
                self.merging = Flattener(order_of(self.builder.loader), written_in)
            for each in self.merging.flatten(mapping):
                entry = each.entry
                found[key_text(entry.key, source)] = (entry.key, entry.value, entry.parent is not mapping)
            return found
        for key, value in mapping.items:
            found[key_text(key, source)] = (key, value, False)
        return found

    def instance(self, node: Node) -> Any:
        """Return a node as JSON data.

        Keys are as written, values under custom tags are `OPAQUE`.
        """
        node = deref(node)
        if id(node) in self.built:
            return self.built[id(node)]
        result: Any
        tag = node.tag or ""
        if node.kind is Kind.SCALAR:
            if tag and tag != "!" and not tag.startswith(TAG_PREFIX):
                result = OPAQUE
            else:
                result = self.builder.scalar(node)
                if isinstance(result, Tagged):
                    result = OPAQUE
                elif isinstance(result, int) and not -_HUGE < result < _HUGE:
                    result = _HUGE if result > 0 else -_HUGE
        elif tag and tag not in ("!", TAG_PREFIX + "map", TAG_PREFIX + "seq", TAG_PREFIX + "python/tuple"):
            result = OPAQUE
        elif node.kind is Kind.SEQUENCE:
            result = [self.instance(each) for each in node.items]
        else:
            result = {}
            for name, (key, value, _) in self.entries(node).items():
                if len(name) > MAX_KEY:
                    self.long_keys.append(key)
                else:
                    result[name] = self.instance(value)
        self.opaque = self.opaque or result is OPAQUE
        self.built[id(node)] = result
        return result

    def find(self, path: KeyPath) -> tuple[Node | None, Node, bool] | None:
        """Return key node, value node and whether an entry is merged in or under an alias.

        None where there is no such entry.
        """
        key: Node | None = None
        node = self.root
        shared = False
        for step in path:
            shared = shared or node.kind is Kind.ALIAS
            node = deref(node)
            if isinstance(step, int):
                if node.kind is not Kind.SEQUENCE or step >= len(node.items):
                    return None
                key, node = None, node.items[step]
                continue
            if node.kind is not Kind.MAPPING:
                return None
            entry = self.entries(node).get(step)
            if entry is None:
                return None
            key, node, merged = entry
            shared = shared or merged
        return key, node, shared

    def span(self, key: Node | None, value: Node) -> tuple[int, int]:
        """Return the span to underline for a wrong value.

        That is the value, or its key where the value is empty or spans lines.
        """
        start, end = value.value_start, value.end
        line_end = _line_end(self.text, start)
        if start < end <= line_end:
            return start, end
        if key is not None:
            return self.key_span(key)
        return (start, min(max(end, start), line_end)) if start < end else (value.start, value.end)

    def key_span(self, key: Node) -> tuple[int, int]:
        return key.value_start, min(key.end, _line_end(self.text, key.value_start))

    def place(self, path: KeyPath) -> tuple[int, int]:
        """Return the span to underline for a problem of the value at a key path."""
        found = self.find(path)
        if found is None:
            return self.root.start, self.root.start
        return self.span(found[0], found[1])

    def mapping_span(self, path: KeyPath) -> tuple[int, int]:
        """Return the span to underline where a mapping lacks an entry."""
        found = self.find(path) if path else None
        if found is None:
            return self.root.start, self.root.start
        return self.key_span(found[0]) if found[0] is not None else self.span(None, found[1])

    def note(self, message: str) -> SchemaProblem:
        return SchemaProblem(
            "schema", "not-checked", (), self.root.start, self.root.start, message, fatal=False
        )

    # Errors

    def errors(self, instance: Any) -> Iterator[tuple[Error, bool]]:
        """Yield the errors in a document, each with whether it is certain.

        An error is not certain where values were accepted without being judged.
        """
        found = None if self.opaque or self.long_keys else self.schema.failures(instance)
        if found is not None:
            for failure in found:
                yield failure, True
            return
        machinery = self.schema.machinery
        if not isinstance(machinery, LimitedValidator):
            machinery = self.schema.machinery = LimitedValidator(self.schema)
        for error in machinery.errors(instance):
            yield error, not self.unsure(error, machinery)

    def unsure(self, error: Error, machinery: LimitedValidator) -> bool:
        """Tell whether an error may come only from values accepted without being judged."""
        if not (self.opaque or self.long_keys or machinery.unsure):
            return False
        if error.validator in ("enum", "const", "uniqueItems") and isinstance(error.instance, (list, dict)):
            return True
        steps = list(error.absolute_schema_path)
        if not _UNSURE.isdisjoint(steps[:-1] if _is_false(error.schema) else steps):
            return True
        return error.validator == "oneOf" and not error.context

    def problems(self, error: Error) -> Iterator[SchemaProblem]:
        """Yield the problems that one validation error stands for."""
        path: KeyPath = tuple(error.absolute_path)
        keyword = str(error.validator)
        schema = error.schema
        if "propertyNames" in error.absolute_schema_path and isinstance(error.instance, str):
            yield self.bad_name(path, error)
        elif keyword in ("additionalProperties", "unevaluatedProperties"):
            yield from self.unknown_keys(path, error)
        elif _is_false(schema):
            yield self.forbidden(path, error)
        elif keyword == "required":
            yield from self.missing_keys(path, error)
        elif keyword == "dependentRequired":
            yield from self.missing_partners(path, error)
        elif keyword in ("anyOf", "oneOf"):
            yield from self.alternatives(path, error)
        elif keyword in ("type", "enum", "const"):
            yield self.wrong(
                path, error, schema, keyword, "wrong-type" if keyword == "type" else "wrong-value"
            )
        elif keyword in _RANGE:
            yield self.wrong(path, error, schema, keyword, "out-of-range")
        elif keyword == "pattern":
            yield self.wrong(
                path, error, {"type": "string", "pattern": error.validator_value}, keyword, "violation"
            )
        elif keyword in _SIZE:
            yield self.wrong_size(path, error, keyword)
        elif keyword == "uniqueItems":
            yield self.repeated_item(path, error)
        elif keyword == "not":
            yield self.rejected(path, error)
        else:
            yield self.other(path, error, keyword)

    def wrong(
        self, path: KeyPath, error: Error, schema: SchemaNode, keyword: str, code: str
    ) -> SchemaProblem:
        """Return the problem of a value that is wrong in itself."""
        found = self.find(path)
        expected = describe(self.loaded, schema)
        value = error.instance
        spelling = self.spelling(found, value, schema)
        suggestion: str | None = None
        changes: tuple[Change, ...] = ()
        if keyword == "enum" and isinstance(value, str) and self.may_suggest():
            suggestion = only_match(value, [each for each in error.validator_value if isinstance(each, str)])
            if suggestion is not None and found is not None and not found[2] and found[1].kind is Kind.SCALAR:
                changes = (SetValue(path, suggestion, document=self.number),)
        message = f"{self.subject(path)} is {state(value)}"
        otherwise = schema.get("x-otherwise") if keyword == "enum" and isinstance(schema, dict) else None
        if otherwise is not None:
            message += f", which the program silently takes for {otherwise}"
        if expected:
            message += f"; expected {expected}"
        if suggestion is not None:
            message += f"; did you mean {value_text(suggestion)}?"
        start, end = self.place(path)
        return SchemaProblem(
            keyword,
            code,
            path,
            start,
            end,
            message,
            expected,
            suggestion,
            changes=changes,
            pitfall=spelling is not None,
            spelling=spelling,
            fatal=otherwise is None,
        )

    def spelling(
        self, found: tuple[Node | None, Node, bool] | None, value: Any, schema: SchemaNode
    ) -> str | None:
        """Return the name of the YAML trap behind a wrong value, or None.

        The value that a reader would see there is right.
        """
        if found is None:
            return None
        node = deref(found[1])
        if node.kind is not Kind.SCALAR or node.tag is not None:
            return None
        for name, reading in likely_readings(node, self.loader, value):
            if self.schema.accepts(schema, reading):
                return name
        return None

    def unknown_keys(self, path: KeyPath, error: Error) -> Iterator[SchemaProblem]:
        schema = error.schema
        value = error.instance
        if not isinstance(value, dict):
            yield self.other(path, error, "additionalProperties")
            return
        if error.validator == "additionalProperties":
            named = schema.get("properties", {})
            patterns = [self.loaded.patterns[text] for text in schema.get("patternProperties", {})]
            extra = [
                key
                for key in value
                if key not in named and not any(pattern.search(key) for pattern in patterns)
            ]
        else:
            known = set(self.schema.keys(path))
            extra = [key for key in value if key not in known]
            if not extra:
                yield self.other(path, error, "unevaluatedProperties")
                return
        for key in extra[: self.limit + 1]:
            yield self.unknown_key(path, key, schema)

    def unknown_key(self, path: KeyPath, name: str, schema: SchemaNode) -> SchemaProblem:
        whole = (*path, name)
        found = self.find(whole)
        if found is None or found[0] is None:
            start, end = self.mapping_span(path)
            return SchemaProblem(
                "unknown-key", "unknown-key", whole, start, end, f"{self.holder(path)} has no key `{name}`"
            )
        key, value, shared = found[0], found[1], found[2]
        present = self.entries(deref(self.value_at(path)))
        known = self.schema.keys(path)
        suggestion: str | None = None
        related: list[tuple[int, int, str]] = []
        changes: tuple[Change, ...] = ()
        elsewhere = [place for place in self.schema.places(name) if place[:-1] != path][:3]
        renamed = schema.get("x-renamed", {}).get(name) if isinstance(schema, dict) else None
        former = isinstance(schema, dict) and name in schema.get("x-former", ())
        meant: list[str] = []
        # A key that there was is no slip of the pen.
        if self.may_suggest() and not former:
            meant = closest(name, known)
        near = only_match(name, [each for each in known if each not in present]) if meant else None
        if renamed is not None:
            elsewhere = []
            if renamed in present:
                related.append((*self.key_span(present[renamed][0]), f"`{renamed}` is set here"))
            elif not shared and self.fits((*path, renamed), value):
                changes = (RenameKey(whole, renamed, document=self.number),)
        elif near is not None and not (elsewhere and is_weaker_guess(name, near)):
            suggestion = near
            if not shared and self.fits((*path, near), value):
                changes = (RenameKey(whole, near, document=self.number),)
        elif meant and not elsewhere and meant[0] in present:
            suggestion = meant[0]
            related.append((*self.key_span(present[meant[0]][0]), f"`{meant[0]}` is set here"))
        elif meant and not elsewhere:
            suggestion = meant[0]
        for place in elsewhere:
            section = self.find(place[:-1]) if len(place) > 1 else None
            label = (
                f"`{name}` belongs to `{format_key_path(place[:-1])}`"
                if len(place) > 1
                else f"`{name}` belongs to the top level"
            )
            if section is not None and section[0] is not None:
                there = self.find(place)
                related.append(
                    (*self.key_span(section[0]), label)
                    if there is None or there[0] is None
                    else (*self.key_span(there[0]), f"{label}, and is set there")
                )
        if suggestion is None and renamed is None and len(elsewhere) == 1 and not shared:
            changes = self.move(whole, elsewhere[0], value)
        if suggestion is None and renamed is None and not elsewhere and not former and self.may_suggest():
            # The name is wrong and so is the section.
            near = only_match(name, self.schema.names())
            places = self.schema.places(near) if near is not None else []
            if len(places) == 1 and self.schema.expected_types(places[0]) != frozenset({"object"}):
                suggestion = format_key_path(places[0])
                if not shared:
                    changes = self.move(whole, places[0], value)
        ignored = isinstance(schema, dict) and schema.get("x-unknown") == "ignored"
        message = f"{self.holder(path)} has no key `{name}`"
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
        spoken = self.spoken_key(key)
        if spoken is not None:
            message += f"; {self.loader.title} reads this key as {spoken}"
        if elsewhere and suggestion is None:
            listed = " and ".join(f"`{format_key_path(place)}`" for place in elsewhere)
            message += f"; the schema has {listed}"
        if suggestion is not None:
            message += f"; did you mean `{suggestion}`?"
        start, end = self.key_span(key)
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
            else self.held_back(
                whole,
                value,
                [*([(*path, renamed or near or meant[0])] if renamed or meant else []), *elsewhere],
                shared=shared,
            )
            or ("nothing has taken its place" if former else None),
        )

    def held_back(self, path: KeyPath, value: Node, meant: Sequence[KeyPath], *, shared: bool) -> str | None:
        """Return why an unknown key is not moved or renamed, although a known key is near.

        None where no known key is near.
        """
        if not meant:
            return None
        if shared:
            return "other places of the file share the section"
        if len(meant) > 1:
            return "nothing tells which of the places is meant"
        there = self.find(meant[0])
        named = format_key_path(meant[0] if meant[0][:-1] != path[:-1] else meant[0][-1:])
        if there is not None and there[0] is not None:
            return f"`{named}` is set already"
        if not self.fits(meant[0], value):
            return f"the value does not fit `{named}`"
        return f"it cannot be moved to `{named}` as it stands"

    def fits(self, path: KeyPath, value: Node) -> bool:
        """Tell whether a value may be right under another key, as far as is known."""
        data = self.instance(value)
        return data is not OPAQUE and all(
            self.schema.accepts(node, data) is not False for node in self.schema.nodes(path)[:1]
        )

    def move(self, source: KeyPath, target: KeyPath, value: Node) -> tuple[Change, ...]:
        """Return the changes that move an entry to the mapping where it belongs.

        Empty where the entry cannot be moved as it stands.
        """
        section = self.find(target[:-1]) if len(target) > 1 else (None, self.root, False)
        if section is None or section[2] or section[1].kind is not Kind.MAPPING:
            return ()
        if target[-1] in self.entries(section[1]) or value.kind is Kind.ALIAS or value.anchor is not None:
            return ()
        if not isinstance(target[-1], str) or not self.fits(target, value):
            return ()
        data = self.instance(value)
        if isinstance(data, dict):
            return ()
        return (
            InsertKey(target[:-1], target[-1], data, document=self.number),
            DeleteKey(source, document=self.number),
        )

    def spoken_key(self, key: Node) -> str | None:
        """Return a key as the loader reads it, where that is no text; else None."""
        scalar = deref(key)
        if scalar.kind is not Kind.SCALAR or scalar.style or scalar.tag is not None:
            return None
        read = resolve(scalar.text, self.loader)
        return None if read.error is not None or isinstance(read.value, str) else value_text(read.value)

    def value_at(self, path: KeyPath) -> Node:
        found = self.find(path) if path else None
        return self.root if found is None else found[1]

    def missing_keys(self, path: KeyPath, error: Error) -> Iterator[SchemaProblem]:
        instance = error.instance
        start, end = self.mapping_span(path)
        for name in islice((each for each in error.validator_value if each not in instance), self.limit + 1):
            schema = self.schema.nodes((*path, name))
            expected = describe(self.loaded, schema[0]) if schema else None
            where = f" in `{format_key_path(path)}`" if path else ""
            message = f"the key `{name}` is missing{where}" + (f"; expected {expected}" if expected else "")
            near = (
                only_match(name, [key for key in instance if key not in self.schema.keys(path)])
                if self.may_suggest()
                else None
            )
            related: tuple[tuple[int, int, str], ...] = ()
            if near is not None:
                found = self.find((*path, near))
                if found is not None and found[0] is not None:
                    related = ((*self.key_span(found[0]), f"perhaps `{name}` was meant here"),)
            yield SchemaProblem(
                "required", "missing-key", (*path, name), start, end, message, expected, near, related
            )

    def missing_partners(self, path: KeyPath, error: Error) -> Iterator[SchemaProblem]:
        instance = error.instance
        for name, partners in error.validator_value.items():
            for partner in partners if name in instance else ():
                if partner not in instance:
                    start, end = self.mapping_span((*path, name))
                    yield SchemaProblem(
                        "dependentRequired",
                        "missing-key",
                        (*path, partner),
                        start,
                        end,
                        f"`{format_key_path((*path, name))}` needs the key `{partner}` beside it",
                    )

    def forbidden(self, path: KeyPath, error: Error) -> SchemaProblem:
        """Return the problem of a value under a `false` schema."""
        if path and isinstance(path[-1], str):
            parent = self.schema.nodes(path[:-1])
            return self.unknown_key(path[:-1], path[-1], parent[0] if parent else True)
        start, end = self.place(path)
        message = f"nothing is allowed here, but {self.subject(path)} is {state(error.instance)}"
        return SchemaProblem("schema", "violation", path, start, end, message)

    def bad_name(self, path: KeyPath, error: Error) -> SchemaProblem:
        name = str(error.instance)
        start, end = self.mapping_span((*path, name))
        expected = describe(self.loaded, error.schema)
        message = f"the key {value_text(name)} is not allowed as a name"
        if expected:
            message += f"; expected {expected}"
        return SchemaProblem("propertyNames", "unknown-key", (*path, name), start, end, message, expected)

    def alternatives(self, path: KeyPath, error: Error) -> Iterator[SchemaProblem]:
        """Yield the problems of a value that fits none, or several, of some alternatives.

        They are those of the alternative that was probably meant, or of all where none is nearer.
        """
        schema = error.schema
        if not error.context:
            start, end = self.place(path)
            message = f"{self.subject(path)} is {state(error.instance)}, which fits more than one of the alternatives in the schema, but must fit exactly one"
            yield SchemaProblem("oneOf", "violation", path, start, end, message)
            return
        branches: dict[object, list[Error]] = {}
        for each in error.context:
            branches.setdefault(each.relative_schema_path[0], []).append(each)
        ranked = sorted(branches.values(), key=branch_distance)
        nearest = ranked[0]
        plain = {"type", "const", "enum", *_RANGE}
        if all(
            not each.relative_path and each.validator in plain for errors in ranked for each in errors
        ) or any(not each.relative_path and each.validator == "type" for each in nearest):
            kinds = {each.validator for errors in ranked for each in errors if not each.relative_path}
            code = "wrong-type" if "type" in kinds else "out-of-range" if kinds & _RANGE else "wrong-value"
            yield self.wrong(path, error, schema, str(error.validator), code)
            return
        for each in nearest:
            yield from self.problems(each)

    def wrong_size(self, path: KeyPath, error: Error, keyword: str) -> SchemaProblem:
        limit = error.validator_value
        value = error.instance
        noun = _SIZE[keyword]
        bound = f"at {'least' if keyword.startswith('min') else 'most'} {limit} {noun if limit != 1 else noun[:-1]}"
        start, end = self.place(path)
        size = (
            f"has {len(value):,} {noun if len(value) != 1 else noun[:-1]}"
            if "matching" not in noun
            else f"is {state(value)}"
        )
        message = f"{self.subject(path)} {size}; expected {bound}"
        return SchemaProblem(keyword, "violation", path, start, end, message, bound)

    def repeated_item(self, path: KeyPath, error: Error) -> SchemaProblem:
        value = error.instance
        pair = repeated(value)
        first, second = pair if pair is not None else (0, 0)
        start, end = self.place((*path, second))
        message = f"{self.subject(path)} holds {value_text(value[second])} twice; expected different items"
        related = ((*self.place((*path, first)), "the first one"),)
        return SchemaProblem(
            "uniqueItems",
            "violation",
            path,
            start,
            end,
            message,
            "different items",
            related=related,
        )

    def rejected(self, path: KeyPath, error: Error) -> SchemaProblem:
        start, end = self.place(path)
        inner = describe(self.loaded, error.validator_value)
        expected = f"anything but {inner}" if inner else None
        message = f"{self.subject(path)} is {state(error.instance)}, which is not allowed here"
        if expected:
            message += f"; expected {expected}"
        return SchemaProblem("not", "violation", path, start, end, message, expected)

    def other(self, path: KeyPath, error: Error, keyword: str) -> SchemaProblem:
        start, end = self.place(path)
        message = (
            f"{self.subject(path)} is {state(error.instance)}, which `{keyword}` in the schema does not allow"
        )
        if keyword == "items" and isinstance(error.instance, list):
            allowed = len(error.schema.get("prefixItems", ()))
            message = f"{self.subject(path)} has {len(error.instance):,} items; expected at most {allowed}"
            return SchemaProblem(keyword, "violation", path, start, end, message, f"at most {allowed} items")
        if keyword == "contains":
            inner = describe(self.loaded, error.validator_value)
            message = f"{self.subject(path)} must hold at least one item" + (
                f" that is {inner}" if inner else " of a kind it lacks"
            )
        return SchemaProblem(keyword, "violation", path, start, end, message)

    def subject(self, path: KeyPath) -> str:
        return f"`{format_key_path(path)}`" if path else "the file"

    @staticmethod
    def holder(path: KeyPath) -> str:
        return f"`{format_key_path(path)}`" if path else "the top level"

    def may_suggest(self) -> bool:
        self.suggestions += 1
        return self.suggestions <= MAX_SUGGESTIONS


def _is_false(schema: object) -> bool:
    """Tell whether a schema is, or stands for, `false`."""
    return schema is False or (isinstance(schema, dict) and FORBIDDEN in schema)


def _known_keys(names: tuple[str, ...]) -> str | None:
    return choices(list(names)) if names else None


def _line_end(text: str, start: int) -> int:
    ends = [each for each in (text.find("\n", start), text.find("\r", start)) if each >= 0]
    return min(ends, default=len(text))
