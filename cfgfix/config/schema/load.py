"""A JSON Schema as given, checked and made ready: structure, references, patterns.

Everything a schema can do wrong is found here, once, so that validation itself meets only good schemas: a keyword
of the wrong shape, another draft, a reference that leads nowhere, out of the folder, to the network or back to
itself. The work is linear in the size of the schema, which is bounded. Nothing is ever fetched.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from cfgfix.core.errors import CfgfixError

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing `typing` costs more than reading a schema
    from typing import Any, NoReturn, TypeAlias

    from cfgfix.config.schema.patterns import Pattern

Node: TypeAlias = "dict[str, Any] | bool"
"""A schema or subschema."""

DRAFT = "https://json-schema.org/draft/2020-12/schema"

MAX_NODES = 200_000
"""Values in one schema with its files; the largest schema in the SchemaStore catalogue has fewer than 100,000."""

MAX_DEPTH = 100
"""Nesting of a schema. Deeper ones would meet Python's recursion limit during validation."""

MAX_FILES = 64
"""Files that one schema may pull in."""

MAX_FILE_BYTES = 8 << 20
"""Size of one schema file."""

MAX_KEY = 256
"""Longer keys of a document are not held against a schema. A pattern for keys must be safe on this many characters;
the longest key in 777 real training configurations has fewer than 100."""

TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def _is_schema(value: object) -> bool:
    return isinstance(value, (dict, bool))


def _is_strings(value: object) -> bool:
    return (
        isinstance(value, list)
        and all(isinstance(each, str) for each in value)
        and len(set(value)) == len(value)
    )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return (
        isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0 and value == value // 1
    )


def _is_type(value: object) -> bool:
    if isinstance(value, str):
        return value in TYPES
    return isinstance(value, list) and bool(value) and _is_strings(value) and TYPES.issuperset(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


SCHEMA_KEYWORDS = frozenset(
    {
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Keywords whose value is a schema."""

_PLAIN_FALSE = frozenset({"additionalProperties", "items", "unevaluatedItems", "unevaluatedProperties"})
"""Keywords that have a problem of their own when they are false."""

LIST_KEYWORDS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords whose value is a non-empty list of schemas."""

MAP_KEYWORDS = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
"""Keywords whose value is a mapping of names to schemas."""

SHAPES: dict[str, tuple[Callable[[object], bool], str]] = {
    **dict.fromkeys(
        ("$anchor", "$comment", "$dynamicAnchor", "$dynamicRef", "$id", "$ref", "$schema"), (_is_text, "text")
    ),
    **dict.fromkeys(
        ("contentEncoding", "contentMediaType", "description", "format", "title"), (_is_text, "text")
    ),
    **dict.fromkeys(("deprecated", "readOnly", "uniqueItems", "writeOnly"), (_is_flag, "true or false")),
    **dict.fromkeys(("enum", "examples"), (_is_list, "a list")),
    **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum"), (_is_number, "a number")),
    **dict.fromkeys(
        (
            "maxContains",
            "maxItems",
            "maxLength",
            "maxProperties",
            "minContains",
            "minItems",
            "minLength",
            "minProperties",
        ),
        (_is_count, "a whole number of 0 or more"),
    ),
    "multipleOf": (lambda value: _is_number(value) and 0 < value < float("inf"), "a number above 0"),  # type: ignore[operator]
    "pattern": (_is_text, "text"),
    "required": (_is_strings, "a list of different names"),
    "type": (_is_type, "a type name or a list of different type names"),
}
"""Every other keyword of the 2020-12 metaschema whose value has a shape, and the shape in words."""

FORBIDDEN = "x-cfgfix-forbidden"
"""Marks what stands for a `false` schema. jsonschema does not say where a `false` failed; for `not: true` it does."""

SAME_INSTANCE = ("allOf", "anyOf", "dependentSchemas", "else", "if", "not", "oneOf", "then")
"""Keywords whose subschemas apply to the value itself, not to a part of it."""


class Loaded:
    """A schema checked and ready for use.

    All nodes are copies that live as long as this object, so their ids name them. A plain class with slots, since making a
    dataclass costs more than reading a schema.

    Attributes:
        origin: What to call it in messages.
        root: The main document.
        files: Other documents by their path relative to the base folder.
        identifiers: `$id` of a document to its path; the main document has the path ''.
        targets: For each node with a reference, by id: where it leads; None where only jsonschema can tell.
        patterns: Every pattern that is run.
        unchecked: Patterns that are not run, each with the reason.
    """

    __slots__ = ("files", "identifiers", "origin", "patterns", "root", "targets", "unchecked")

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.root: Node = True
        self.files: dict[str, Node] = {}
        self.identifiers: dict[str, str] = {}
        self.targets: dict[int, Node | None] = {}
        self.patterns: dict[str, Pattern] = {}
        self.unchecked: list[tuple[str, str]] = []

    def address(self, name: str) -> str:
        """Return the address by which jsonschema finds a document, given its path."""
        for identifier, path in self.identifiers.items():
            if path == name and ":" in identifier:
                return identifier
        return f"urn:cfgfix:document:{[*self.files].index(name) + 1 if name else 0}"


def load(data: object, origin: str, base_dir: str | None = None) -> Loaded:
    """Return a schema checked, copied and with its references resolved.

    Args:
        data: The schema as parsed.
        origin: What to call it in messages: a path or a name.
        base_dir: The folder that file references are relative to; without it they are refused.

    Raises:
        CfgfixError: The schema is invalid, too large, of another draft, or a reference cannot be followed.
    """
    return _SchemaBuilder(origin, base_dir).build(data)


class _SchemaBuilder:
    def __init__(self, origin: str, base_dir: str | None) -> None:
        self.origin = origin
        self.base_dir = base_dir
        self.count = 0
        self.loaded = Loaded(origin)
        self.references: list[tuple[str, str, dict[str, Any], str, str]] = []
        self.anchors: dict[tuple[str, str], Node] = {}
        self.nested: set[str] = set()
        self.addresses: set[str] = set()
        self.checked: dict[int, Node] = {}
        self.same: dict[int, list[Node]] = {}

    def build(self, data: object) -> Loaded:
        self.document(data, "")
        done = 0
        while done < len(self.references):  # resolving may read files that hold more references
            name, pointer, node, reference, base = self.references[done]
            self.loaded.targets[id(node)] = self.resolve(name, pointer, node, reference, base)
            done += 1
        self.refuse_endless()
        if self.loaded.unchecked:
            for whole in (self.loaded.root, *self.loaded.files.values()):
                for each in _subschemas_of(whole):
                    _only_monotone(each)
        return self.loaded

    def document(self, data: object, name: str) -> None:
        """Check and copy one document of a schema."""
        if isinstance(data, dict):
            draft = data.get("$schema", DRAFT)
            if not isinstance(draft, str) or draft.rstrip("#").replace("http://", "https://") != DRAFT:
                raise CfgfixError(
                    f"the schema is written for {draft!r}; cfgfix reads JSON Schema 2020-12",
                    path=name or self.origin,
                    hint=f"rewrite it for 2020-12 and set $schema to {DRAFT}",
                )
            identifier = data.get("$id")
            if isinstance(identifier, str):
                known = self.loaded.identifiers.setdefault(identifier.rstrip("#"), name)
                if known != name:
                    self.refuse(name, "/$id", f"another document has the $id {identifier!r} as well")
        base = data.get("$id") if isinstance(data, dict) else None
        copy = self.schema(data, name, "", base if isinstance(base, str) else "", 0)
        if name:
            self.loaded.files[name] = copy
        else:
            self.loaded.root = copy

    def schema(self, data: object, name: str, pointer: str, base: str, depth: int) -> Node:
        """Return a checked copy of one schema and everything in it."""
        self.spend(pointer, name)
        if depth > MAX_DEPTH:
            self.refuse(name, pointer, f"the schema is nested deeper than {MAX_DEPTH} levels")
        if data is True or (data is False and pointer.rsplit("/", 1)[-1] in _PLAIN_FALSE):
            return data
        if data is False:
            never: Node = {"not": True, FORBIDDEN: True}
            self.checked[id(never)] = never
            return never
        if not isinstance(data, dict):
            self.refuse(
                name, pointer, f"a schema must be a mapping, true or false, not {_kind_of_value(data)}"
            )
        copy: dict[str, object] = {}
        self.checked[id(copy)] = copy  # holds what is taken out again as well, so that no id comes back
        identifier = data.get("$id")
        if pointer and isinstance(identifier, str):
            self.nested.add(name)
            base = _joined_address(base, identifier)
            self.addresses.add(base)
        same: list[Node] = []
        for key, value in data.items():
            if not isinstance(key, str):
                self.refuse(name, pointer, f"the key {key!r} is not text")
            here = f"{pointer}/{_escaped_step(key)}"
            if key in SCHEMA_KEYWORDS:
                child = self.schema(value, name, here, base, depth + 1)
                copy[key] = child
                if key in SAME_INSTANCE:
                    same.append(child)
            elif key in LIST_KEYWORDS:
                if not isinstance(value, list) or not value:
                    self.refuse(name, here, f"`{key}` must be a list of one or more schemas")
                children = [
                    self.schema(each, name, f"{here}/{index}", base, depth + 1)
                    for index, each in enumerate(value)
                ]
                copy[key] = children
                if key in SAME_INSTANCE:
                    same += children
            elif key in MAP_KEYWORDS:
                if not isinstance(value, dict) or not all(isinstance(each, str) for each in value):
                    self.refuse(name, here, f"`{key}` must be a mapping of names to schemas")
                named = {
                    each: self.schema(sub, name, f"{here}/{_escaped_step(each)}", base, depth + 1)
                    for each, sub in value.items()
                }
                copy[key] = named
                if key in SAME_INSTANCE:
                    same += named.values()
            else:
                self.keyword(key, value, name, here)
                copy[key] = self.plain(value, name, here, depth + 1)
        self.sanitise(copy)
        if same:
            self.same[id(copy)] = same
        for keyword in ("$ref", "$dynamicRef"):
            reference = copy.get(keyword)
            if isinstance(reference, str):
                self.references.append((name, f"{pointer}/{keyword}", copy, reference, base))
        for keyword in ("$anchor", "$dynamicAnchor"):
            anchor = copy.get(keyword)
            if isinstance(anchor, str):
                self.anchors[name, anchor] = copy
        return copy

    def keyword(self, key: str, value: object, name: str, here: str) -> None:
        """Check the value of a keyword that holds no schema."""
        if key in SHAPES:
            good, words = SHAPES[key]
            if not good(value):
                self.refuse(name, here, f"`{key}` must be {words}, not {_kind_of_value(value)}")
        elif key == "dependentRequired":
            if not isinstance(value, dict) or not all(_is_strings(each) for each in value.values()):
                self.refuse(name, here, f"`{key}` must be a mapping of names to lists of different names")
        elif key == "dependencies" and not (
            isinstance(value, dict) and all(_is_schema(each) or _is_strings(each) for each in value.values())
        ):
            self.refuse(name, here, f"`{key}` must be a mapping of names to schemas or lists of names")

    def plain(self, value: object, name: str, here: str, depth: int) -> object:
        """Return a copy of a value in a schema that is no schema, such as an enum."""
        self.spend(here, name)
        if depth > MAX_DEPTH:
            self.refuse(name, here, f"the schema is nested deeper than {MAX_DEPTH} levels")
        if isinstance(value, dict):
            return {str(key): self.plain(each, name, here, depth + 1) for key, each in value.items()}
        if isinstance(value, list):
            return [self.plain(each, name, here, depth + 1) for each in value]
        return value

    def sanitise(self, copy: dict[str, object]) -> None:
        """Remove patterns that cannot be run safely from a schema.

        What they judged is then left open, and told.
        """
        pattern = copy.get("pattern")
        if isinstance(pattern, str) and not self.pattern(pattern):
            del copy["pattern"]
        named = copy.get("patternProperties")
        if isinstance(named, dict):
            bad = [each for each in named if not self.pattern(each, MAX_KEY)]
            for each in bad:
                del named[each]
            if bad:
                copy.pop("additionalProperties", None)

    def pattern(self, text: str, length: int = 1) -> bool:
        """Tell whether a pattern can be run on texts of `length` characters.

        A pattern that cannot is noted with the reason.
        """
        from cfgfix.config.schema.patterns import read_pattern

        read = self.loaded.patterns.get(text) or read_pattern(text)
        if isinstance(read, str):
            reason = read
        elif read.max_length < length:
            reason = f"it may take too long on {length} characters"
        else:
            self.loaded.patterns[text] = read
            return True
        if all(text != known for known, _ in self.loaded.unchecked):
            self.loaded.unchecked.append((text, reason))
        return False

    def resolve(
        self, name: str, pointer: str, node: dict[str, Any], reference: str, base: str
    ) -> Node | None:
        """Return the subschema that a reference in a document leads to.

        None where only jsonschema can tell.
        """
        here = pointer
        address, _, fragment = reference.partition("#")
        if not address and name in self.nested:
            return None
        target = name if not address else self.find_document(name, here, address, base)
        if target is None:
            return None
        if address:
            # One kind of address for jsonschema, whatever `$id` says about bases.
            node[pointer.rsplit("/", 1)[1]] = f"{self.loaded.address(target)}#{fragment}"
        fragment = _unquoted_text(fragment)
        whole = self.loaded.files[target] if target else self.loaded.root
        if not fragment:
            return whole
        if not fragment.startswith("/"):
            found = self.anchors.get((target, fragment))
            if found is None:
                self.refuse(name, here, f"the reference {reference!r} leads nowhere")
            return found
        value: object = whole
        for step in fragment[1:].split("/"):
            step = step.replace("~1", "/").replace("~0", "~")  # noqa: PLW2901
            if isinstance(value, dict) and step in value:
                value = value[step]
            elif isinstance(value, list) and step.isdecimal() and len(step) < 8 and int(step) < len(value):
                value = value[int(step)]
            else:
                self.refuse(name, here, f"the reference {reference!r} leads nowhere")
        if not isinstance(value, bool) and id(value) not in self.checked:
            self.refuse(
                name,
                here,
                f"the reference {reference!r} leads to {_kind_of_value(value)}, where no schema stands",
            )
        return value  # type: ignore[return-value]

    def find_document(self, name: str, here: str, address: str, base: str) -> str | None:
        """Return the path of the document at an address, reading a new file if need be.

        None where only jsonschema can tell.
        """
        if address in self.loaded.identifiers:
            return self.loaded.identifiers[address]
        if address.startswith("https://json-schema.org/draft/2020-12/"):
            return None
        if self.nested:  # `$id` below the top gives parts of a document addresses of their own
            whole = _joined_address(base, address)
            if whole in self.addresses:
                return None
            if whole in self.loaded.identifiers:
                return self.loaded.identifiers[whole]
        if ":" in address.split("/", 1)[0]:
            self.refuse(
                name,
                here,
                f"the schema refers to {address!r}, and cfgfix fetches nothing",
                hint="save that schema beside this one and refer to it by file name",
            )
        if self.base_dir is None:
            self.refuse(
                name, here, f"the schema refers to the file {address!r}, but it was not read from a folder"
            )
        relative = _unquoted_text(address)
        if os.path.isabs(relative) or "\\" in relative or "\0" in relative:
            self.refuse(name, here, f"the reference {address!r} is not a path relative to the schema")
        path = os.path.normpath(os.path.join(os.path.dirname(name), relative))
        if path in self.loaded.files:
            return path
        base = os.path.realpath(self.base_dir)
        full = os.path.realpath(os.path.join(base, path))
        if path.startswith("..") or not full.startswith(base.rstrip(os.sep) + os.sep):
            self.refuse(name, here, f"the reference {address!r} leads out of the schema's folder")
        if len(self.loaded.files) >= MAX_FILES:
            self.refuse(name, here, f"the schema pulls in more than {MAX_FILES} files")
        self.document(_read_json(full, path), path)
        return path

    def refuse_endless(self) -> None:
        """Refuse a schema whose references apply it to the same value without end."""
        edges = dict(self.same)
        for _, _, node, _, _ in self.references:
            target = self.loaded.targets[id(node)]
            if isinstance(target, dict):
                edges[id(node)] = [*edges.get(id(node), ()), target]
        state: dict[int, bool] = {}  # True while on the way, False when done
        for name, pointer, start, reference, _ in self.references:
            stack: list[tuple[int, Iterator[Node]]] = []
            if id(start) not in state:
                state[id(start)] = True
                stack.append((id(start), iter(edges.get(id(start), ()))))
            while stack:
                current, remaining = stack[-1]
                following = next(remaining, None)
                if following is None:
                    state[current] = False
                    stack.pop()
                elif isinstance(following, dict):
                    known = state.get(id(following))
                    if known:
                        self.refuse(
                            name, pointer, f"the reference {reference!r} leads back to itself without end"
                        )
                    if known is None:
                        state[id(following)] = True
                        stack.append((id(following), iter(edges.get(id(following), ()))))

    def spend(self, pointer: str, name: str) -> None:
        self.count += 1
        if self.count > MAX_NODES:
            self.refuse(name, pointer, f"the schema has more than {MAX_NODES:,} values")

    def refuse(self, name: str, pointer: str, message: str, *, hint: str | None = None) -> NoReturn:
        raise CfgfixError(f"invalid schema at #{pointer}: {message}", path=name or self.origin, hint=hint)


def _only_monotone(node: dict[str, object]) -> None:
    """Remove keywords that could reject a value because another one is not checked."""
    if FORBIDDEN in node:
        return
    for keyword in ("not", "if", "then", "else", "contains", "unevaluatedItems", "unevaluatedProperties"):
        node.pop(keyword, None)
    alternatives = node.pop("oneOf", None)
    if isinstance(alternatives, list):
        if "anyOf" in node:
            every = node.setdefault("allOf", [])
            assert isinstance(every, list)
            every.append({"anyOf": alternatives})
        else:
            node["anyOf"] = alternatives


def _read_json(full: str, shown: str) -> object:
    import json

    from cfgfix.core.source_file import read_source

    source = read_source(full, limit=MAX_FILE_BYTES)
    try:
        return json.loads(source.text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        reason = getattr(error, "msg", None) or "it is nested too deeply"
        raise CfgfixError(f"the schema file is not JSON: {reason}", path=shown, line=line) from None


def _subschemas_of(whole: Node) -> Iterator[dict[str, object]]:
    stack: list[object] = [whole]
    while stack:
        node = stack.pop()
        if not isinstance(node, dict):
            continue
        yield node
        for key, value in node.items():
            if key in SCHEMA_KEYWORDS:
                stack.append(value)
            elif key in LIST_KEYWORDS:
                stack.extend(value)
            elif key in MAP_KEYWORDS:
                stack.extend(value.values())


def _joined_address(base: str, address: str) -> str:
    from urllib.parse import urljoin

    return urljoin(base, address)


def _unquoted_text(text: str) -> str:
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text)


def _escaped_step(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


def _kind_of_value(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
