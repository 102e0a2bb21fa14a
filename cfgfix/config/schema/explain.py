"""Schema errors as a reader needs them: the place, what stands there, what was expected, what was meant.

Imported only for a document that is not known to be valid. `failures` says *where* and *which keyword*, and for the
rare schema that it does not understand jsonschema does, which is imported here and nowhere else; every sentence is
written here.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from cfgfix.config.document.compose import (
    Document,
    Kind,
    Node,
    deref,
)
from cfgfix.config.loaders.scalars import Loader
from cfgfix.config.schema.descriptions import describe, state, value_text
from cfgfix.config.schema.explain_guesses import branch_distance, likely_readings
from cfgfix.config.schema.failures import repeated
from cfgfix.config.schema.judged_document import JudgedDocument
from cfgfix.config.schema.limited_validator import Error, LimitedValidator, TooMuchWorkError
from cfgfix.config.schema.load import FORBIDDEN, MAX_KEY
from cfgfix.config.schema.load import Node as SchemaNode
from cfgfix.config.schema.problem import SchemaProblem
from cfgfix.config.schema.unknown_keys import UnknownKeys
from cfgfix.core.edits import Change, SetValue
from cfgfix.core.errors import CfgfixError
from cfgfix.core.findings import KeyPath, format_key_path
from cfgfix.core.suggest import only_match

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing `typing` costs as much as checking a few files
    from typing import Any

    from cfgfix.config.schema.limited_validator import Schema


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


def explain(
    schema: Schema, document: Document, root: Node, loader: Loader, limit: int
) -> list[SchemaProblem]:
    """Return the places where one YAML document breaks a schema, in text order.

    See `Schema.problems`.
    """
    return _ErrorExplainer(schema, document, root, loader, limit).run()


class _ErrorExplainer:
    def __init__(self, schema: Schema, document: Document, root: Node, loader: Loader, limit: int) -> None:
        self.judged = JudgedDocument(schema, document, root, loader)
        self.unknown = UnknownKeys(self.judged)
        self.limit = limit

    def run(self) -> list[SchemaProblem]:
        found: dict[tuple[int, int, str, str], SchemaProblem] = {}
        notes: list[str] = [
            f"the pattern {value_text(text)} of the schema is not checked, because {reason}"
            for text, reason in self.judged.loaded.unchecked[:3]
        ]
        if len(self.judged.loaded.unchecked) > 3:
            notes.append(
                f"{len(self.judged.loaded.unchecked) - 3} more patterns of the schema are not checked"
            )
        try:
            for error, sure in self.errors(self.judged.instance(self.judged.root)):
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
                path=self.judged.loaded.origin,
            ) from None
        if self.judged.long_keys:
            notes.append(f"keys of more than {MAX_KEY} characters are not checked")
        result = sorted(found.values(), key=lambda problem: (problem.start, problem.end, problem.code))[
            : self.limit
        ]
        return result + [self.note(text) for text in notes]

    def note(self, message: str) -> SchemaProblem:
        return SchemaProblem(
            "schema", "not-checked", (), self.judged.root.start, self.judged.root.start, message, fatal=False
        )

    def errors(self, instance: Any) -> Iterator[tuple[Error, bool]]:
        """Yield the errors in a document, each with whether it is certain.

        An error is not certain where values were accepted without being judged.
        """
        found = None if self.judged.opaque or self.judged.long_keys else self.judged.schema.failures(instance)
        if found is not None:
            for failure in found:
                yield failure, True
            return
        machinery = self.judged.schema.machinery
        if not isinstance(machinery, LimitedValidator):
            machinery = self.judged.schema.machinery = LimitedValidator(self.judged.schema)
        for error in machinery.errors(instance):
            yield error, not self.unsure(error, machinery)

    def unsure(self, error: Error, machinery: LimitedValidator) -> bool:
        """Tell whether an error may come only from values accepted without being judged."""
        if not (self.judged.opaque or self.judged.long_keys or machinery.unsure):
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
        found = self.judged.find(path)
        expected = describe(self.judged.loaded, schema)
        value = error.instance
        spelling = self.spelling(found, value, schema)
        suggestion: str | None = None
        changes: tuple[Change, ...] = ()
        if keyword == "enum" and isinstance(value, str) and self.judged.may_suggest():
            suggestion = only_match(value, [each for each in error.validator_value if isinstance(each, str)])
            if suggestion is not None and found is not None and not found[2] and found[1].kind is Kind.SCALAR:
                changes = (SetValue(path, suggestion, document=self.judged.number),)
        message = f"{self.subject(path)} is {state(value)}"
        otherwise = schema.get("x-otherwise") if keyword == "enum" and isinstance(schema, dict) else None
        if otherwise is not None:
            message += f", which the program silently takes for {otherwise}"
        if expected:
            message += f"; expected {expected}"
        if suggestion is not None:
            message += f"; did you mean {value_text(suggestion)}?"
        start, end = self.judged.place(path)
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
        for name, reading in likely_readings(node, self.judged.loader, value):
            if self.judged.schema.accepts(schema, reading):
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
            patterns = [self.judged.loaded.patterns[text] for text in schema.get("patternProperties", {})]
            extra = [
                key
                for key in value
                if key not in named and not any(pattern.search(key) for pattern in patterns)
            ]
        else:
            known = set(self.judged.schema.keys(path))
            extra = [key for key in value if key not in known]
            if not extra:
                yield self.other(path, error, "unevaluatedProperties")
                return
        for key in extra[: self.limit + 1]:
            yield self.unknown.problem(path, key, schema)

    def missing_keys(self, path: KeyPath, error: Error) -> Iterator[SchemaProblem]:
        instance = error.instance
        start, end = self.judged.mapping_span(path)
        for name in islice((each for each in error.validator_value if each not in instance), self.limit + 1):
            schema = self.judged.schema.nodes((*path, name))
            expected = describe(self.judged.loaded, schema[0]) if schema else None
            where = f" in `{format_key_path(path)}`" if path else ""
            message = f"the key `{name}` is missing{where}" + (f"; expected {expected}" if expected else "")
            near = (
                only_match(name, [key for key in instance if key not in self.judged.schema.keys(path)])
                if self.judged.may_suggest()
                else None
            )
            related: tuple[tuple[int, int, str], ...] = ()
            if near is not None:
                found = self.judged.find((*path, near))
                if found is not None and found[0] is not None:
                    related = ((*self.judged.key_span(found[0]), f"perhaps `{name}` was meant here"),)
            yield SchemaProblem(
                "required", "missing-key", (*path, name), start, end, message, expected, near, related
            )

    def missing_partners(self, path: KeyPath, error: Error) -> Iterator[SchemaProblem]:
        instance = error.instance
        for name, partners in error.validator_value.items():
            for partner in partners if name in instance else ():
                if partner not in instance:
                    start, end = self.judged.mapping_span((*path, name))
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
            parent = self.judged.schema.nodes(path[:-1])
            return self.unknown.problem(path[:-1], path[-1], parent[0] if parent else True)
        start, end = self.judged.place(path)
        message = f"nothing is allowed here, but {self.subject(path)} is {state(error.instance)}"
        return SchemaProblem("schema", "violation", path, start, end, message)

    def bad_name(self, path: KeyPath, error: Error) -> SchemaProblem:
        name = str(error.instance)
        start, end = self.judged.mapping_span((*path, name))
        expected = describe(self.judged.loaded, error.schema)
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
            start, end = self.judged.place(path)
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
        start, end = self.judged.place(path)
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
        start, end = self.judged.place((*path, second))
        message = f"{self.subject(path)} holds {value_text(value[second])} twice; expected different items"
        related = ((*self.judged.place((*path, first)), "the first one"),)
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
        start, end = self.judged.place(path)
        inner = describe(self.judged.loaded, error.validator_value)
        expected = f"anything but {inner}" if inner else None
        message = f"{self.subject(path)} is {state(error.instance)}, which is not allowed here"
        if expected:
            message += f"; expected {expected}"
        return SchemaProblem("not", "violation", path, start, end, message, expected)

    def other(self, path: KeyPath, error: Error, keyword: str) -> SchemaProblem:
        start, end = self.judged.place(path)
        message = (
            f"{self.subject(path)} is {state(error.instance)}, which `{keyword}` in the schema does not allow"
        )
        if keyword == "items" and isinstance(error.instance, list):
            allowed = len(error.schema.get("prefixItems", ()))
            message = f"{self.subject(path)} has {len(error.instance):,} items; expected at most {allowed}"
            return SchemaProblem(keyword, "violation", path, start, end, message, f"at most {allowed} items")
        if keyword == "contains":
            inner = describe(self.judged.loaded, error.validator_value)
            message = f"{self.subject(path)} must hold at least one item" + (
                f" that is {inner}" if inner else " of a kind it lacks"
            )
        return SchemaProblem(keyword, "violation", path, start, end, message)

    def subject(self, path: KeyPath) -> str:
        return f"`{format_key_path(path)}`" if path else "the file"


def _is_false(schema: object) -> bool:
    """Tell whether a schema is, or stands for, `false`."""
    return schema is False or (isinstance(schema, dict) and FORBIDDEN in schema)
