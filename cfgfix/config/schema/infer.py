"""The class that loads a config, read as a JSON Schema: the schema then cannot drift from the code.

Dataclasses, attrs classes, pydantic models, `TypedDict`, `NamedTuple` and plain classes with an `__init__` are read
from their source text with the standard library's parser. Nothing is imported and nothing is run. A name is followed
through the imports of its file to other files of the project; what leads out of the project, and every type that has
no counterpart in YAML, is left open. A constraint is stated only where the code states it.
"""

from __future__ import annotations

import ast
import os
from typing import Any

from cfgfix.config.schema.class_fields import (
    FIELD,
    MAX_DESCRIPTION,
    ClassField,
    ClassFields,
    attribute_docs,
    entry_of_dict_display,
    first_paragraph,
)
from cfgfix.config.schema.class_files import ClassFiles, ClassSource, ConfigClass
from cfgfix.config.schema.class_values import MAX_DEPTH, NO_VALUE, ClassValues, literal_value
from cfgfix.core.errors import CfgfixError, did_you_mean
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import read_source

MAX_PROPERTIES = 20_000
"""Keys of one schema; a class that reaches itself by several ways must not multiply."""
DRAFT = "https://json-schema.org/draft/2020-12/schema"
_REQUIRED = frozenset({"omegaconf.MISSING", "dataclasses.MISSING", "attr.NOTHING", "attrs.NOTHING"})
_PLAIN: dict[str, dict[str, Any]] = {
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "str": {"type": "string"},
    "bool": {"type": "boolean"},
    "None": {"type": "null"},
    "list": {"type": "array"},
    "tuple": {"type": "array"},
    "set": {"type": "array"},
    "frozenset": {"type": "array"},
    "dict": {"type": "object"},
    "pathlib.Path": {"type": "string"},
    "pathlib.PurePath": {"type": "string"},
    "os.PathLike": {"type": "string"},
    "typing.Text": {"type": "string"},
}
_LISTS = frozenset(
    {
        "list", "set", "frozenset", "typing.List", "typing.Sequence", "typing.Iterable", "typing.Set",
        "typing.FrozenSet", "typing.Collection", "typing.MutableSequence", "collections.abc.Sequence",
        "collections.abc.Iterable", "collections.abc.Collection", "collections.abc.Set",
    }
)  # fmt: skip
_TUPLES = frozenset({"tuple", "typing.Tuple"})
_DICTS = frozenset(
    {
        "dict", "typing.Dict", "typing.Mapping", "typing.MutableMapping", "collections.abc.Mapping",
        "collections.abc.MutableMapping", "collections.OrderedDict", "typing.OrderedDict",
    }
)  # fmt: skip
_WRAPPERS = frozenset(
    {
        "typing.Final", "dataclasses.InitVar", "typing.Required", "typing.NotRequired", "typing.ReadOnly",
        "typing_extensions.Required", "typing_extensions.NotRequired", "typing_extensions.ReadOnly",
    }
)  # fmt: skip
_NUMERIC_TEXT = r"^[ \t]*[+-]?([0-9]|\.[0-9]|[iI][nN][fF]|[nN][aA][nN])"
"""How text begins that pydantic makes a number of (its documentation, "Conversion Table")."""
_PYDANTIC_LAX: dict[str, dict[str, Any]] = {
    "integer": {"type": ["integer", "string"], "pattern": _NUMERIC_TEXT},
    "number": {"type": ["number", "string"], "pattern": _NUMERIC_TEXT},
    "boolean": {
        "anyOf": [
            {"type": "boolean"},
            {"enum": [0, 1, "0", "1", "on", "off", "t", "f", "true", "false", "y", "n", "yes", "no"]},
            {"type": "string", "pattern": "^(?:[oO][nN]|[oO][fF][fF]|[tTfFyYnN]|[tT][rR][uU][eE]|[fF][aA][lL][sS][eE]|[yY][eE][sS]|[nN][oO])$"},
        ]
    },
}  # fmt: skip
"""What a pydantic model takes for each type, unless it is strict: it converts text."""
_FIELD_BOUNDS = {
    "gt": "exclusiveMinimum",
    "ge": "minimum",
    "lt": "exclusiveMaximum",
    "le": "maximum",
    "multiple_of": "multipleOf",
}
_FIELD_LENGTHS = {"min_length": ("minLength", "minItems"), "max_length": ("maxLength", "maxItems")}
_CONSTRAINED: dict[str, tuple[str, dict[str, Any]]] = {
    "pydantic.PositiveInt": ("integer", {"exclusiveMinimum": 0}),
    "pydantic.NonNegativeInt": ("integer", {"minimum": 0}),
    "pydantic.NegativeInt": ("integer", {"exclusiveMaximum": 0}),
    "pydantic.NonPositiveInt": ("integer", {"maximum": 0}),
    "pydantic.PositiveFloat": ("number", {"exclusiveMinimum": 0}),
    "pydantic.NonNegativeFloat": ("number", {"minimum": 0}),
    "pydantic.NegativeFloat": ("number", {"exclusiveMaximum": 0}),
    "pydantic.NonPositiveFloat": ("number", {"maximum": 0}),
    "pydantic.StrictInt": ("integer", {}),
    "pydantic.StrictFloat": ("number", {}),
    "pydantic.StrictBool": ("boolean", {}),
    "pydantic.StrictStr": ("string", {}),
}


@dataclass(frozen=True, slots=True)
class Inferred:
    """A schema read from code.

    Attributes:
        schema: JSON Schema 2020-12 with `x-source` (file and class) on each section and `x-line` on each key.
        files: Every file it rests on, for caches; those that were looked for and are not there too.
        sections: For each class, as `path:Class`, the key paths that it fills.
    """

    schema: dict[str, Any]
    files: tuple[str, ...]
    sections: dict[str, tuple[tuple[str, ...], ...]]


def infer(spec: str, root: str = ".", source_roots: tuple[str, ...] = ()) -> Inferred:
    """Return the JSON Schema of a config class, read from its code.

    Args:
        spec: `path/to/config.py:Class` or `package.module:Class`; a class inside another is `Outer.Inner`.
        root: The folder that paths start from.
        source_roots: Further folders that imports start from.

    Raises:
        CfgfixError: The file or the class cannot be found, or the file is no Python.
    """
    place, _, name = spec.rpartition(":")
    if not place or not name:
        raise CfgfixError(
            f"{spec!r} names no class", hint="write path/to/config.py:Class or package.module:Class"
        )
    builder = SchemaBuilder(root, source_roots)
    path = builder.files.locate(place)
    if path is None:
        raise CfgfixError(
            f"{place!r} is no Python file or module here", hint=f"looked below {os.path.abspath(root)}"
        )
    source = builder.files.load(path)
    if source is None:
        # Read again for the reason; `load` itself passes over what it cannot read.
        text = read_source(path).text
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise CfgfixError(
                f"is not Python that this interpreter reads: {error}",
                path=path,
                line=getattr(error, "lineno", None),
            ) from error
        raise CfgfixError("cannot be read as Python", path=path)
    found = builder.files.definition(source, name)
    if not isinstance(found, ConfigClass):
        raise CfgfixError(f"has no class {name!r}", path=path, hint=did_you_mean(name, source.names))
    schema = builder.section(found, (), 0)
    if "properties" not in schema:
        raise CfgfixError(
            f"{name} states no fields: it is neither a dataclass, attrs class, pydantic model, TypedDict, NamedTuple "
            "nor has it an __init__ with parameters",
            path=path,
            line=found.node.lineno,
        )
    head: dict[str, Any] = {"$schema": DRAFT, "title": name, **schema}
    return Inferred(
        head,
        tuple(sorted({*builder.files.used, *builder.fields.looked})),
        {key: tuple(paths) for key, paths in builder.sections.items()},
    )


class SchemaBuilder:
    """Builds the schema of a config class, section by section."""

    def __init__(self, root: str, source_roots: tuple[str, ...]) -> None:
        self.files = ClassFiles(root, source_roots)
        self.fields = ClassFields(self.files)
        self.values = ClassValues(self.files)
        self.sections: dict[str, list[tuple[str, ...]]] = {}
        self.count = 0

    def section(
        self, found: ConfigClass, path: tuple[str, ...], depth: int, stack: tuple[ast.ClassDef, ...] = ()
    ) -> dict[str, Any]:
        """Return the schema of one class.

        Empty for a class that states no keys, a plain object for a class inside itself.
        """
        kind = self.files.kind(found)
        if kind is None:
            return {}
        if kind == "enum":
            return self.values.enumeration(found, model=False)
        if found.node in stack or depth > MAX_DEPTH or self.count > MAX_PROPERTIES:
            return {"type": "object"}
        fields, closed = self.fields.all_fields(found, kind)
        self.sections.setdefault(self.files.class_place(found), []).append(path)
        result: dict[str, Any] = {"type": "object"}
        summary = first_paragraph(ast.get_docstring(found.node))
        if summary:
            result["description"] = summary
        result["x-source"] = self.files.class_place(found)
        result["x-line"] = found.node.lineno
        loading = self.fields.loading(found, path)
        described: dict[str, str] = {}
        for above in self.files.bases(found):
            described = {**attribute_docs(ast.get_docstring(above.node)), **described}
        properties: dict[str, Any] = {}
        required: list[str] = []
        late = self.fields.late_defaults(found)
        for item in fields:
            self.count += 1
            made = self.field_schema(item, kind, path, depth, (*stack, found.node), late)
            if made is None:
                continue
            name, schema, needed = made
            if loading and "properties" in schema:
                # The loader unpacks the section: a null there stops it.
                schema["type"] = "object"
            if "description" not in schema:
                text = item.comment or described.get(item.name)
                if text:
                    schema = {"description": text[:MAX_DESCRIPTION], **schema}
            schema["x-line"] = item.line
            if item.owner.node is not found.node:
                schema["x-source"] = self.files.class_place(item.owner)
            properties[name] = schema
            if needed and not loading.get("lenient"):
                required.append(name)
        result["properties"] = properties
        if required:
            result["required"] = required
        unknown = loading.get("unknown") or closed
        if unknown in ("fatal", "ignored") and not self.files.outside(found):
            result["additionalProperties"] = False
            result["x-unknown"] = unknown
        return result

    def field_schema(
        self,
        item: ClassField,
        kind: str,
        path: tuple[str, ...],
        depth: int,
        stack: tuple[ast.ClassDef, ...],
        late: dict[str, tuple[ast.expr, ClassSource] | None],
    ) -> tuple[str, dict[str, Any], bool] | None:
        """Return key, schema and whether the key is required, for one field of a class.

        None for a field that a config cannot give.
        """
        source = item.owner.source
        name, required = item.name, item.required
        options: dict[str, ast.expr] = {}
        default = item.default
        annotation = item.annotation
        model = kind == "model"
        if isinstance(default, ast.Call) and self.files.canonical(default.func, source) in FIELD:
            options = {keyword.arg: keyword.value for keyword in default.keywords if keyword.arg}
            hidden = options.get("init")
            if isinstance(hidden, ast.Constant) and hidden.value is False:
                return None
            if default.args and (
                model or self.files.canonical(default.func, source) in FIELD - {"dataclasses.field"}
            ):
                options.setdefault("default", default.args[0])
            default = options.get("default")
            required = default is None and "default_factory" not in options and "factory" not in options
        if required and model and self.may_be_none(annotation, source):
            required = self.fields.pydantic_major(item.owner) == 2
        if isinstance(default, ast.Constant) and default.value is Ellipsis:
            default, required = None, True
        if default is not None and self.files.canonical(default, source) in _REQUIRED:
            default, required = None, True
        annotated: list[ast.expr] = []
        if isinstance(annotation, ast.Subscript) and self.files.canonical(annotation.value, source) in (
            "typing.Annotated",
            "typing_extensions.Annotated",
        ):
            parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
            annotated = list(parts[1:])
        for extra in annotated:
            if isinstance(extra, ast.Call) and self.files.canonical(extra.func, source) in FIELD:
                for keyword in extra.keywords:
                    if keyword.arg:
                        options.setdefault(keyword.arg, keyword.value)
        if "alias" in options or "validation_alias" in options:
            alias = literal_value(options.get("validation_alias") or options["alias"])
            if isinstance(alias, str):
                name = alias
        inner = (*path, name)
        if annotation is None and isinstance(options.get("type"), ast.expr):
            annotation = options["type"]
        lax = (model or self.fields.pydantic_decorator(item.owner) is not None) and not self.fields.strict(
            item.owner
        )
        strict = options.get("strict")
        if isinstance(strict, ast.Constant):
            lax = lax and strict.value is not True
        annotation = self.fields.given(item, annotation)
        schema = (
            self.type_schema(annotation, source, inner, depth + 1, stack, lax=lax)
            if annotation is not None
            else {}
        )
        self.constrain(schema, options)
        description = literal_value(options.get("description"))
        if description is NO_VALUE and "metadata" in options:
            help_text = entry_of_dict_display(options["metadata"], "help")
            description = literal_value(help_text) if help_text is not None else NO_VALUE
        if isinstance(description, str):
            schema = {"description": description[:MAX_DESCRIPTION], **schema}
        value = self.values.default_of(default, options, source)
        if value is None and schema and kind not in ("model", "typed-dict"):
            schema = _with_null(schema)
        if item.name in late and value in (None, NO_VALUE):
            entry = late[item.name]
            value = self.values.value_of(entry[0], entry[1]) if entry is not None else NO_VALUE
        if value is not NO_VALUE and not (value is None and "properties" in schema):
            schema["default"] = value
        return name, schema, required

    def may_be_none(self, annotation: ast.expr | None, source: ClassSource) -> bool:
        """Tell whether a type may take None.

        Pydantic 1 lets a config leave such a field out.
        """
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                annotation = ast.parse(annotation.value, mode="eval").body
            except (SyntaxError, ValueError, RecursionError):
                return True
        if annotation is None or (isinstance(annotation, ast.Constant) and annotation.value is None):
            return True
        if isinstance(annotation, ast.BinOp):
            return self.may_be_none(annotation.left, source) or self.may_be_none(annotation.right, source)
        if isinstance(annotation, ast.Subscript):
            outer = self.files.canonical(annotation.value, source)
            inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
            if outer in ("typing.Annotated", "typing_extensions.Annotated"):
                return self.may_be_none(inner[0], source)
            if outer in ("typing.Union", "typing.Literal", "typing_extensions.Literal"):
                return any(self.may_be_none(part, source) for part in inner)
            return outer == "typing.Optional"
        if self.files.canonical(annotation, source) in ("typing.Any", "typing_extensions.Any", "object"):
            return True
        # An alias of a type may stand for an optional one.
        meant = self.files.resolve(annotation, source)
        if isinstance(meant, tuple) and isinstance(meant[1], (ast.Assign, ast.AnnAssign)):
            value = meant[1].value
            return (
                value is None or isinstance(value, (ast.Name, ast.Call)) or self.may_be_none(value, meant[0])
            )
        return False

    def constrain(self, schema: dict[str, Any], options: dict[str, ast.expr]) -> None:
        """Add the bounds stated by a pydantic `Field` to a schema."""
        types = schema.get("type")
        for option, keyword in _FIELD_BOUNDS.items():
            value = literal_value(options.get(option))
            if isinstance(value, (int, float)) and not isinstance(value, bool) and types is not None:
                schema[keyword] = value
        for option, (for_text, for_list) in _FIELD_LENGTHS.items():
            value = literal_value(options.get(option))
            if isinstance(value, int) and not isinstance(value, bool):
                if types == "string":
                    schema[for_text] = value
                elif types == "array":
                    schema[for_list] = value

    def type_schema(
        self,
        annotation: ast.expr,
        source: ClassSource,
        path: tuple[str, ...],
        depth: int,
        stack: tuple[ast.ClassDef, ...],
        *,
        lax: bool,
    ) -> dict[str, Any]:
        """Return the schema of an annotation, empty where the type is not known."""
        if depth > MAX_DEPTH:
            return {}
        if isinstance(annotation, ast.Constant):
            if annotation.value is None:
                return {"type": "null"}
            if isinstance(annotation.value, str) and len(annotation.value) < 2000:
                try:
                    parsed = ast.parse(annotation.value.strip(), mode="eval").body
                except (SyntaxError, ValueError, RecursionError):
                    return {}
                return self.type_schema(parsed, source, path, depth + 1, stack, lax=lax)
            return {}
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            return self.union(_alternative_annotations(annotation), source, path, depth, stack, lax=lax)
        if isinstance(annotation, ast.Subscript):
            return self.subscripted(annotation, source, path, depth, stack, lax=lax)
        if isinstance(annotation, ast.Call):
            return self.constructed(annotation, source, lax=lax)
        name = self.files.canonical(annotation, source)
        if name is None:
            return {}
        if name in _PLAIN and name not in source.names:
            return _without_limits(dict(_PLAIN[name]), lax=lax)
        if name in _CONSTRAINED:
            kind, bounds = _CONSTRAINED[name]
            return {
                **_without_limits({"type": kind}, lax=lax and not name.startswith("pydantic.Strict")),
                **bounds,
            }
        if name in _LISTS | _TUPLES:
            return {"type": "array"}
        if name in _DICTS:
            return {"type": "object"}
        found = self.files.resolve(annotation, source)
        if isinstance(found, ConfigClass):
            if self.files.kind(found) == "enum":
                return self.values.enumeration(found, model=lax)
            return self.section(found, path, depth, stack)
        if isinstance(found, tuple):
            target, node = found
            value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
            if (
                isinstance(value, ast.Call)
                and self.files.canonical(value.func, target) == "typing.NewType"
                and len(value.args) == 2
            ):
                value = value.args[1]
            if isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp)):
                return self.type_schema(value, target, path, depth + 1, stack, lax=lax)
        return {}

    def subscripted(
        self,
        annotation: ast.Subscript,
        source: ClassSource,
        path: tuple[str, ...],
        depth: int,
        stack: tuple[ast.ClassDef, ...],
        *,
        lax: bool,
    ) -> dict[str, Any]:
        """Return the schema of a generic type with parameters, such as `list[int]`."""
        name = self.files.canonical(annotation.value, source) or ""
        name = name.replace("typing_extensions.", "typing.")
        arguments = (
            list(annotation.slice.elts) if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        )
        if name == "typing.Optional":
            return self.union([arguments[0], ast.Constant(None)], source, path, depth, stack, lax=lax)
        if name == "typing.Union":
            return self.union(arguments, source, path, depth, stack, lax=lax)
        if name == "typing.Literal":
            allowed = [literal_value(item) for item in arguments]
            return {} if any(value is NO_VALUE for value in allowed) else {"enum": allowed}
        if name == "typing.Annotated" or name in _WRAPPERS:
            return self.type_schema(arguments[0], source, path, depth + 1, stack, lax=lax)
        if name in _LISTS:
            items = self.type_schema(arguments[0], source, (*path, "[]"), depth + 1, stack, lax=lax)
            return {"type": "array", "items": items} if items else {"type": "array"}
        if name in _TUPLES:
            if (
                len(arguments) == 2
                and isinstance(arguments[1], ast.Constant)
                and arguments[1].value is Ellipsis
            ):
                items = self.type_schema(arguments[0], source, (*path, "[]"), depth + 1, stack, lax=lax)
                return {"type": "array", "items": items} if items else {"type": "array"}
            parts = [
                self.type_schema(item, source, (*path, "[]"), depth + 1, stack, lax=lax) for item in arguments
            ]
            return (
                {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
                if parts
                else {"type": "array"}
            )
        if name in _DICTS:
            values = (
                self.type_schema(arguments[1], source, (*path, "*"), depth + 1, stack, lax=lax)
                if len(arguments) == 2
                else {}
            )
            return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
        found = self.files.resolve(annotation.value, source)
        return self.section(found, path, depth, stack) if isinstance(found, ConfigClass) else {}

    def union(
        self,
        parts: list[ast.expr],
        source: ClassSource,
        path: tuple[str, ...],
        depth: int,
        stack: tuple[ast.ClassDef, ...],
        *,
        lax: bool,
    ) -> dict[str, Any]:
        """Return the schema of a union of types."""
        schemas = [self.type_schema(item, source, path, depth + 1, stack, lax=lax) for item in parts]
        if any(not schema for schema in schemas):
            return {}
        null = any(schema == {"type": "null"} for schema in schemas)
        rest = [schema for schema in schemas if schema != {"type": "null"}]
        if len(rest) == 1:
            return _with_null(rest[0]) if null else rest[0]
        if not rest:
            return {"type": "null"}
        if all(set(schema) == {"type"} and isinstance(schema["type"], str) for schema in rest):
            types: list[str] = []
            for schema in rest:
                if schema["type"] not in types:
                    types.append(schema["type"])
            return {"type": [*types, "null"] if null else types if len(types) > 1 else types[0]}
        return {"anyOf": [*rest, {"type": "null"}] if null else rest}

    def constructed(self, call: ast.Call, source: ClassSource, *, lax: bool) -> dict[str, Any]:
        """Return the schema of a pydantic constrained type such as `conint(ge=1)`.

        Empty for any other call.
        """
        name = self.files.canonical(call.func, source) or ""
        kind = {"conint": "integer", "confloat": "number", "constr": "string"}.get(
            name.removeprefix("pydantic.")
        )
        if kind is None or not name.startswith("pydantic."):
            return {}
        schema = _without_limits({"type": kind}, lax=lax)
        self.constrain(schema, {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg})
        return schema


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    types = schema.get("type")
    if "anyOf" in schema:
        return (
            {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
            if {"type": "null"} not in schema["anyOf"]
            else schema
        )
    if "enum" in schema and types is None:
        return {**schema, "enum": [*schema["enum"], None]} if None not in schema["enum"] else schema
    if isinstance(types, str):
        return {**schema, "type": types if types == "null" else [types, "null"]}
    if isinstance(types, list):
        return {**schema, "type": types if "null" in types else [*types, "null"]}
    return schema


def _without_limits(schema: dict[str, Any], *, lax: bool) -> dict[str, Any]:
    kind = schema.get("type")
    return dict(_PYDANTIC_LAX[kind]) if lax and isinstance(kind, str) and kind in _PYDANTIC_LAX else schema


def _alternative_annotations(annotation: ast.expr) -> list[ast.expr]:
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return [*_alternative_annotations(annotation.left), *_alternative_annotations(annotation.right)]
    return [annotation]
