"""The class that loads a config, read as a JSON Schema: the schema then cannot drift from the code.

Dataclasses, attrs classes, pydantic models, `TypedDict`, `NamedTuple` and plain classes with an `__init__` are read
from their source text with the standard library's parser. Nothing is imported and nothing is run. A name is followed
through the imports of its file to other files of the project; what leads out of the project, and every type that has
no counterpart in YAML, is left open. A constraint is stated only where the code states it.
"""

from __future__ import annotations

import ast
import os
import re
from typing import Any

from cfgfix.core.errors import CfgfixError, did_you_mean
from cfgfix.core.records import dataclass
from cfgfix.core.source_file import read_source

MAX_FILES = 500
"""Files that one class may lead to."""
MAX_DEPTH = 30
"""Nesting of sections and of types."""
MAX_PROPERTIES = 20_000
"""Keys of one schema; a class that reaches itself by several ways must not multiply."""
MAX_DESCRIPTION = 600
"""Code points kept of a comment."""
MAX_LITERAL = 20_000
"""Characters of source that a default may have."""

DRAFT = "https://json-schema.org/draft/2020-12/schema"

_DATACLASS = frozenset(
    {
        "dataclasses.dataclass", "pydantic.dataclasses.dataclass", "chex.dataclass", "flax.struct.dataclass",
        "attr.s", "attr.attrs", "attr.dataclass", "attr.define", "attr.frozen", "attr.mutable", "attr.attributes",
        "attrs.define", "attrs.frozen", "attrs.mutable",
    }
)  # fmt: skip
_ATTRS_OLD = frozenset({"attr.s", "attr.attrs", "attr.attributes"})
"""Decorators that take fields without annotation; the newer ones take both."""
_FIELD = frozenset(
    {
        "dataclasses.field", "pydantic.Field", "pydantic.fields.Field", "attr.ib", "attr.attrib", "attr.field",
        "attrs.field", "flax.struct.field",
    }
)  # fmt: skip
_MODEL = frozenset(
    {
        "pydantic.BaseModel",
        "pydantic.main.BaseModel",
        "pydantic_settings.BaseSettings",
        "pydantic.BaseSettings",
    }
)
_TYPED_DICT = frozenset({"typing.TypedDict", "typing_extensions.TypedDict"})
_NAMED_TUPLE = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple"})
_ENUMS = frozenset(
    {"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag", "enum.ReprEnum"}
)
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
_NO_VALUE: Any = object()


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
    """Return the schema that a class in the code states.

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
    reader = _Reader(root, source_roots)
    path = reader.locate(place)
    if path is None:
        raise CfgfixError(
            f"{place!r} is no Python file or module here", hint=f"looked below {os.path.abspath(root)}"
        )
    source = reader.load(path)
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
    found = reader.definition(source, name)
    if not isinstance(found, _Class):
        raise CfgfixError(f"has no class {name!r}", path=path, hint=did_you_mean(name, source.names))
    schema = reader.section(found, (), 0)
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
        tuple(sorted({*reader.used, *reader.looked})),
        {key: tuple(paths) for key, paths in reader.sections.items()},
    )


class _Source:
    """One parsed file."""

    __slots__ = ("comments", "imports", "names", "path", "stars", "tree")

    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        self.path = path
        self.tree = tree
        self.comments = _comments(text)
        self.names: dict[str, ast.AST] = {}
        self.imports: dict[str, tuple[str, str | None, int]] = {}
        self.stars: list[tuple[str, int]] = []
        _collect(tree.body, self)


def _collect(body: list[ast.stmt], source: _Source) -> None:
    """Note what the top level of a file binds, also under `if` and `try`; a first binding in a branch wins."""
    for statement in body:
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            source.names[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    source.names[target.id] = statement
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            source.names[statement.target.id] = statement
        elif isinstance(statement, ast.Import):
            for alias in statement.names:
                bound = alias.asname or alias.name.split(".")[0]
                source.imports.setdefault(bound, (alias.name if alias.asname else bound, None, 0))
        elif isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if alias.name == "*":
                    source.stars.append((statement.module or "", statement.level))
                else:
                    source.imports.setdefault(
                        alias.asname or alias.name, (statement.module or "", alias.name, statement.level)
                    )
        elif isinstance(statement, ast.If):
            _collect(statement.body, source)
            _collect(statement.orelse, source)
        elif isinstance(statement, ast.Try):
            _collect(statement.body, source)
            for handler in statement.handlers:
                _collect(handler.body, source)


def _comments(text: str) -> dict[int, str]:
    """Return the comment at the end of each line, by line; lines that are nothing but a comment are left out."""
    if "#" not in text:
        return {}
    import io
    import tokenize

    found: dict[int, str] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and token.line[: token.start[1]].strip():
                found[token.start[0]] = token.string.lstrip("#: ").strip()
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return found
    return found


class _Class:
    """A class definition in its file."""

    __slots__ = ("node", "qualname", "source")

    def __init__(self, source: _Source, node: ast.ClassDef, qualname: str) -> None:
        self.source = source
        self.node = node
        self.qualname = qualname


class _Field:
    """One key that a class takes."""

    __slots__ = ("annotation", "comment", "default", "line", "name", "owner", "required")

    def __init__(
        self,
        name: str,
        owner: _Class,
        annotation: ast.expr | None,
        default: ast.expr | None,
        line: int,
        *,
        required: bool,
        comment: str | None,
    ) -> None:
        self.name = name
        self.owner = owner
        self.annotation = annotation
        self.default = default
        self.line = line
        self.required = required
        self.comment = comment


class _Reader:
    """The files of one question, and what their names stand for."""

    def __init__(self, root: str, source_roots: tuple[str, ...]) -> None:
        self.root = root
        self.roots = [os.path.join(root, folder) for folder in source_roots] + [root]
        if os.path.isdir(os.path.join(root, "src")):
            self.roots.append(os.path.join(root, "src"))
        self.files: dict[str, _Source | None] = {}
        self.used: set[str] = set()
        self.looked: list[str] = []
        self.majors: dict[str, int | None] = {}
        self.sections: dict[str, list[tuple[str, ...]]] = {}
        self.count = 0

    # Files and names

    def locate(self, place: str) -> str | None:
        """Return the path of a file or dotted module."""
        if place.endswith(".py") or "/" in place or os.sep in place:
            path = place if os.path.isabs(place) else os.path.join(self.root, place)
            return os.path.normpath(path) if os.path.isfile(path) else None
        return self.module_file(place, None, 0)

    def module_file(self, name: str, importer: str | None, level: int) -> str | None:
        """Return the file of a module as seen from an importing file."""
        parts = name.split(".") if name else []
        if level and importer is not None:
            folder = os.path.dirname(importer)
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            folders = [folder]
        else:
            folders = list(self.roots)
            if importer is not None:
                here = os.path.dirname(importer)
                folders.insert(0, here)
                while os.path.isfile(os.path.join(here, "__init__.py")) and os.path.dirname(here) != here:
                    here = os.path.dirname(here)
                folders.append(here)
        for folder in folders:
            base = os.path.join(folder, *parts)
            for path in (base + ".py", os.path.join(base, "__init__.py")):
                if os.path.isfile(path):
                    return os.path.normpath(path)
        return None

    def load(self, path: str) -> _Source | None:
        """Return a file parsed, or None where it cannot be."""
        if path in self.files:
            return self.files[path]
        source = None
        if len(self.files) < MAX_FILES:
            import warnings

            try:
                text = read_source(path).text
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    source = _Source(path, text, ast.parse(text))
            except (CfgfixError, SyntaxError, ValueError, RecursionError, MemoryError):
                source = None
        self.files[path] = source
        if source is not None:
            self.used.add(path)
        return source

    def canonical(self, expression: ast.expr, source: _Source) -> str | None:
        """Return the dotted name of what an expression stands for, imports resolved.

        None for anything else.
        """
        text = _dotted(expression)
        if text is None:
            return None
        head, _, rest = text.partition(".")
        entry = source.imports.get(head)
        if entry is None:
            return text
        module, member, level = entry
        name = ("." * level + module) if member is None else f"{'.' * level}{module}.{member}"
        name = f"{name}.{rest}" if rest else name
        return f"pydantic.{name[12:]}" if name.startswith("pydantic.v1.") else name

    def definition(
        self, source: _Source, name: str, depth: int = 0
    ) -> _Class | tuple[_Source, ast.AST] | None:
        """Return what a dotted name stands for in a file.

        A class, or another definition with its file.
        """
        if depth > 20:
            return None
        head, _, rest = name.partition(".")
        node = source.names.get(head)
        if node is not None:
            if isinstance(node, ast.ClassDef):
                return _member(_Class(source, node, head), rest)
            return (source, node) if not rest else None
        entry = source.imports.get(head)
        if entry is not None:
            module, member, level = entry
            if member is None:
                # `import a.b` binds `a`; the rest of the name walks down.
                return self._through(module, rest, source, depth)
            path = self.module_file(module, source.path, level)
            if path is not None:
                target = self.load(path)
                if target is not None:
                    found = self.definition(target, f"{member}.{rest}" if rest else member, depth + 1)
                    if found is not None:
                        return found
            inner = f"{module}.{member}" if module else member
            path = self.module_file(inner, source.path, level)
            if path is not None and rest:
                target = self.load(path)
                if target is not None:
                    return self.definition(target, rest, depth + 1)
            return None
        for module, level in source.stars:
            path = self.module_file(module, source.path, level)
            target = self.load(path) if path is not None else None
            if target is not None and target is not source:
                found = self.definition(target, name, depth + 1)
                if found is not None:
                    return found
        return None

    def _through(
        self, module: str, rest: str, source: _Source, depth: int
    ) -> _Class | tuple[_Source, ast.AST] | None:
        parts = rest.split(".")
        for count in range(len(parts) - 1, -1, -1):
            path = self.module_file(".".join([module, *parts[:count]]), source.path, 0)
            target = self.load(path) if path is not None else None
            if target is not None and parts[count:] != [""]:
                return self.definition(target, ".".join(parts[count:]), depth + 1)
        return None

    def resolve(self, expression: ast.expr, source: _Source) -> _Class | tuple[_Source, ast.AST] | None:
        text = _dotted(expression)
        return self.definition(source, text) if text is not None else None

    # Classes

    def kind(self, found: _Class, depth: int = 0) -> str | None:
        """Return `dataclass`, `attrs`, `model`, `typed-dict`, `named-tuple`, `enum`, `plain`, or None for none of them."""
        for decorator in found.node.decorator_list:
            call = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = self.canonical(call, found.source)
            if name in _DATACLASS:
                return "attrs" if name in _ATTRS_OLD else "dataclass"
        if depth > 20:
            return None
        inherited = None
        for base in found.node.bases:
            expression = base.value if isinstance(base, ast.Subscript) else base
            name = self.canonical(expression, found.source) or ""
            if name in _MODEL:
                return "model"
            if name in _TYPED_DICT:
                return "typed-dict"
            if name in _NAMED_TUPLE:
                return "named-tuple"
            if name in _ENUMS:
                return "enum"
            above = self.resolve(expression, found.source)
            if isinstance(above, _Class) and above.node is not found.node:
                inherited = inherited or self.kind(above, depth + 1)
        return inherited or ("plain" if _method(found.node, "__init__") is not None else None)

    def bases(self, found: _Class, depth: int = 0) -> list[_Class]:
        """Return a class and its bases inside the project, nearest first."""
        result = [found]
        if depth < 20:
            for base in found.node.bases:
                above = self.resolve(base.value if isinstance(base, ast.Subscript) else base, found.source)
                if isinstance(above, _Class) and all(above.node is not item.node for item in result):
                    for item in self.bases(above, depth + 1):
                        if all(item.node is not other.node for other in result):
                            result.append(item)
        return result

    def outside(self, found: _Class) -> bool:
        """Tell whether a class has a base that is neither in the project nor one that adds no keys."""
        for item in self.bases(found):
            for base in item.node.bases:
                expression = base.value if isinstance(base, ast.Subscript) else base
                name = self.canonical(expression, item.source) or ""
                if name in _MODEL | _TYPED_DICT | _NAMED_TUPLE | {
                    "object",
                    "abc.ABC",
                    "typing.Generic",
                    "typing.Protocol",
                }:
                    continue
                if not isinstance(self.resolve(expression, item.source), _Class):
                    return True
        return False

    def section(
        self, found: _Class, path: tuple[str, ...], depth: int, stack: tuple[ast.ClassDef, ...] = ()
    ) -> dict[str, Any]:
        """Return the schema of one class.

        {} where it states nothing, and a plain object where it reaches itself.
        """
        kind = self.kind(found)
        if kind is None:
            return {}
        if kind == "enum":
            return self.enumeration(found, model=False)
        if found.node in stack or depth > MAX_DEPTH or self.count > MAX_PROPERTIES:
            return {"type": "object"}
        fields, closed = self.fields(found, kind)
        self.sections.setdefault(self.class_place(found), []).append(path)
        result: dict[str, Any] = {"type": "object"}
        summary = _first_paragraph(ast.get_docstring(found.node))
        if summary:
            result["description"] = summary
        result["x-source"] = self.class_place(found)
        result["x-line"] = found.node.lineno
        loading = self.loading(found, path)
        described: dict[str, str] = {}
        for above in self.bases(found):
            described = {**_attribute_docs(ast.get_docstring(above.node)), **described}
        properties: dict[str, Any] = {}
        required: list[str] = []
        late = self.late_defaults(found)
        for item in fields:
            self.count += 1
            made = self.property(item, kind, path, depth, (*stack, found.node), late)
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
                schema["x-source"] = self.class_place(item.owner)
            properties[name] = schema
            if needed and not loading.get("lenient"):
                required.append(name)
        result["properties"] = properties
        if required:
            result["required"] = required
        unknown = loading.get("unknown") or closed
        if unknown in ("fatal", "ignored") and not self.outside(found):
            result["additionalProperties"] = False
            result["x-unknown"] = unknown
        return result

    def class_place(self, found: _Class) -> str:
        """Return `path:Class`, the path relative to the root where it lies below."""
        path = found.source.path
        relative = os.path.relpath(path, self.root)
        return f"{(path if relative.startswith('..') else relative).replace(os.sep, '/')}:{found.qualname}"

    def fields(self, found: _Class, kind: str) -> tuple[list[_Field], str]:
        """Return what a class takes, in order, and what it does with anything else.

        `fatal`, `ignored` or `free`.
        """
        init = _method(found.node, "__init__")
        if kind in ("plain", "dataclass", "attrs") and init is not None:
            return self.parameters(found, init)
        if kind == "plain":
            for item in self.bases(found)[1:]:
                init = _method(item.node, "__init__")
                if init is not None:
                    return self.parameters(item, init)
            return [], "free"
        fields: dict[str, _Field] = {}
        total = True
        for item in reversed(self.bases(found)):
            if kind == "typed-dict":
                total = not any(
                    keyword.arg == "total"
                    and isinstance(keyword.value, ast.Constant)
                    and keyword.value.value is False
                    for keyword in item.node.keywords
                )
            for field in self.own_fields(item, kind, total=total):
                if field.name in fields and field.annotation is None:
                    continue
                fields[field.name] = field
        decorator = self.pydantic_decorator(found)
        closed = (
            _extra_of(decorator)
            if decorator is not None
            else {"typed-dict": "free", "model": self.extra_keys(found)}.get(kind, "fatal")
        )
        return list(fields.values()), closed

    def own_fields(self, found: _Class, kind: str, *, total: bool) -> list[_Field]:
        body = found.node.body
        result = []
        for position, statement in enumerate(body):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                name, annotation, default = statement.target.id, statement.annotation, statement.value
            elif (
                kind == "attrs"
                and isinstance(statement, ast.Assign)
                and len(statement.targets) == 1
                and isinstance(statement.targets[0], ast.Name)
                and isinstance(statement.value, ast.Call)
                and self.canonical(statement.value.func, found.source) in _FIELD
            ):
                name, annotation, default = statement.targets[0].id, None, statement.value
            else:
                continue
            outer = (
                self.canonical(
                    annotation.value if isinstance(annotation, ast.Subscript) else annotation, found.source
                )
                if annotation is not None
                else None
            )
            if outer in ("typing.ClassVar", "dataclasses.KW_ONLY", "typing_extensions.ClassVar") or (
                kind == "model" and (name == "model_config" or name.startswith("_"))
            ):
                continue
            required = default is None
            if kind == "typed-dict":
                required = outer in ("typing.Required", "typing_extensions.Required") or (
                    total and outer not in ("typing.NotRequired", "typing_extensions.NotRequired")
                )
            comment = found.source.comments.get(
                statement.end_lineno or statement.lineno
            ) or found.source.comments.get(statement.lineno)
            if comment is None and position + 1 < len(body):
                after = body[position + 1]
                if (
                    isinstance(after, ast.Expr)
                    and isinstance(after.value, ast.Constant)
                    and isinstance(after.value.value, str)
                ):
                    comment = _first_paragraph(after.value.value)
            result.append(
                _Field(name, found, annotation, default, statement.lineno, required=required, comment=comment)
            )
        return result

    def parameters(self, found: _Class, init: ast.FunctionDef) -> tuple[list[_Field], str]:
        """Return the parameters of an `__init__` as keys.

        The annotation of a field of the same name fills in.
        """
        annotated = {
            statement.target.id: statement
            for statement in found.node.body
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
        }
        arguments = init.args
        plain = [*arguments.posonlyargs, *arguments.args][1:]
        defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults)) + list(
            arguments.defaults
        )
        if len(defaults) > len(plain):
            defaults = defaults[len(defaults) - len(plain) :]
        pairs = [
            *zip(plain, defaults, strict=True),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        docs = _attribute_docs(ast.get_docstring(init))
        result = []
        for argument, default in pairs:
            statement = annotated.get(argument.arg)
            annotation = argument.annotation or (statement.annotation if statement is not None else None)
            comment = found.source.comments.get(argument.lineno) if argument.lineno != init.lineno else None
            result.append(
                _Field(
                    argument.arg,
                    found,
                    annotation,
                    default,
                    statement.lineno if statement is not None else argument.lineno,
                    required=default is None,
                    comment=comment or docs.get(argument.arg),
                )
            )
        if arguments.kwarg is None:
            return result, "fatal"
        # What **kwargs takes may go on to a base class: then its parameters are keys too.
        for item in self.bases(found)[1:]:
            above = _method(item.node, "__init__")
            if above is not None and _passes_on(init, arguments.kwarg.arg):
                more, closed = self.parameters(item, above)
                known = {field.name for field in result}
                return result + [field for field in more if field.name not in known], closed
        return result, "free"

    def extra_keys(self, found: _Class) -> str:
        """Return what a pydantic model does with unknown keys.

        Its own default is to ignore them.
        """
        for item in self.bases(found):
            for statement in item.node.body:
                value = None
                if (
                    isinstance(statement, ast.Assign)
                    and any(
                        isinstance(target, ast.Name) and target.id == "model_config"
                        for target in statement.targets
                    )
                ) or (
                    isinstance(statement, ast.AnnAssign)
                    and isinstance(statement.target, ast.Name)
                    and statement.target.id == "model_config"
                    and statement.value is not None
                ):
                    value = _entry(statement.value, "extra") if statement.value is not None else None
                elif isinstance(statement, ast.ClassDef) and statement.name == "Config":
                    for inner in statement.body:
                        if isinstance(inner, ast.Assign) and any(
                            isinstance(t, ast.Name) and t.id == "extra" for t in inner.targets
                        ):
                            value = inner.value
                if value is not None:
                    text = value.value if isinstance(value, ast.Constant) else _dotted(value) or ""
                    return {"forbid": "fatal", "ignore": "ignored"}.get(str(text).rsplit(".", 1)[-1], "free")
            for keyword in item.node.keywords:
                if keyword.arg == "extra" and isinstance(keyword.value, ast.Constant):
                    return {"forbid": "fatal", "ignore": "ignored"}.get(str(keyword.value.value), "free")
        return "ignored"

    def strict(self, found: _Class) -> bool:
        """Tell whether a pydantic model refuses to convert."""
        for item in self.bases(found):
            for statement in item.node.body:
                if isinstance(statement, ast.Assign) and any(
                    isinstance(t, ast.Name) and t.id == "model_config" for t in statement.targets
                ):
                    value = _entry(statement.value, "strict")
                    return isinstance(value, ast.Constant) and value.value is True
        return False

    def loading(self, found: _Class, path: tuple[str, ...]) -> dict[str, Any]:
        """Return how a method of the class takes a loaded file apart.

        `unknown` keys and whether all keys may be absent.

        Only a root class has such a method: `d = yaml.safe_load(f)`, then `d.get("x")`, `d["x"]`, or `cls(**d)`.
        """
        if path:
            return {}
        for statement in found.node.body:
            if not isinstance(statement, ast.FunctionDef):
                continue
            names = set()
            for node in ast.walk(statement):
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                    called = self.canonical(node.value.func, found.source) or ""
                    if called in _LOADS:
                        names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            if not names:
                continue
            picked, other = False, False
            for node in ast.walk(statement):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and isinstance(node.func.value, ast.Name)
                    and node.func.value.id in names
                ):
                    if node.func.attr == "get" and node.args and isinstance(node.args[0], ast.Constant):
                        picked = True
                    else:
                        other = True
                elif (
                    isinstance(node, ast.Subscript)
                    and isinstance(node.value, ast.Name)
                    and node.value.id in names
                ):
                    if isinstance(node.slice, ast.Constant):
                        picked = True
                    else:
                        other = True
                elif isinstance(node, ast.Call) and any(
                    isinstance(value, ast.Name) and value.id in names
                    for value in [*node.args, *(keyword.value for keyword in node.keywords)]
                ):
                    other = True
            if picked and not other:
                return {"unknown": "ignored", "lenient": True}
        return {}

    def late_defaults(self, found: _Class) -> dict[str, tuple[ast.expr, _Source] | None]:
        """Return what `__post_init__` makes of fields left None.

        By name the value, None for one that it computes.
        """
        result: dict[str, tuple[ast.expr, _Source] | None] = {}
        for item in reversed(self.bases(found)):
            for name in ("__post_init__", "__attrs_post_init__", "__init__"):
                method = _method(item.node, name)
                if method is not None:
                    _late(method.body, item.source, result, set(), direct=name != "__init__")
        return result

    # Keys and types

    def property(
        self,
        item: _Field,
        kind: str,
        path: tuple[str, ...],
        depth: int,
        stack: tuple[ast.ClassDef, ...],
        late: dict[str, tuple[ast.expr, _Source] | None],
    ) -> tuple[str, dict[str, Any], bool] | None:
        """Return key, schema and whether it must be given.

        None for a field that is no parameter.
        """
        source = item.owner.source
        name, required = item.name, item.required
        options: dict[str, ast.expr] = {}
        default = item.default
        annotation = item.annotation
        model = kind == "model"
        if isinstance(default, ast.Call) and self.canonical(default.func, source) in _FIELD:
            options = {keyword.arg: keyword.value for keyword in default.keywords if keyword.arg}
            hidden = options.get("init")
            if isinstance(hidden, ast.Constant) and hidden.value is False:
                return None
            if default.args and (
                model or self.canonical(default.func, source) in _FIELD - {"dataclasses.field"}
            ):
                options.setdefault("default", default.args[0])
            default = options.get("default")
            required = default is None and "default_factory" not in options and "factory" not in options
        if required and model and self.may_be_none(annotation, source):
            required = self.pydantic_major(item.owner) == 2
        if isinstance(default, ast.Constant) and default.value is Ellipsis:
            default, required = None, True
        if default is not None and self.canonical(default, source) in _REQUIRED:
            default, required = None, True
        annotated: list[ast.expr] = []
        if isinstance(annotation, ast.Subscript) and self.canonical(annotation.value, source) in (
            "typing.Annotated",
            "typing_extensions.Annotated",
        ):
            parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
            annotated = list(parts[1:])
        for extra in annotated:
            if isinstance(extra, ast.Call) and self.canonical(extra.func, source) in _FIELD:
                for keyword in extra.keywords:
                    if keyword.arg:
                        options.setdefault(keyword.arg, keyword.value)
        if "alias" in options or "validation_alias" in options:
            alias = _literal(options.get("validation_alias") or options["alias"])
            if isinstance(alias, str):
                name = alias
        inner = (*path, name)
        if annotation is None and isinstance(options.get("type"), ast.expr):
            annotation = options["type"]
        lax = (model or self.pydantic_decorator(item.owner) is not None) and not self.strict(item.owner)
        strict = options.get("strict")
        if isinstance(strict, ast.Constant):
            lax = lax and strict.value is not True
        annotation = self.given(item, annotation)
        schema = (
            self.type(annotation, source, inner, depth + 1, stack, lax=lax) if annotation is not None else {}
        )
        self.constrain(schema, options)
        description = _literal(options.get("description"))
        if description is _NO_VALUE and "metadata" in options:
            help_text = _entry(options["metadata"], "help")
            description = _literal(help_text) if help_text is not None else _NO_VALUE
        if isinstance(description, str):
            schema = {"description": description[:MAX_DESCRIPTION], **schema}
        value = self.default(default, options, source)
        if value is None and schema and kind not in ("model", "typed-dict"):
            schema = _nullable(schema)
        if item.name in late and value in (None, _NO_VALUE):
            entry = late[item.name]
            value = self.value(entry[0], entry[1]) if entry is not None else _NO_VALUE
        if value is not _NO_VALUE and not (value is None and "properties" in schema):
            schema["default"] = value
        return name, schema, required

    def given(self, item: _Field, annotation: ast.expr | None) -> ast.expr | None:
        """Return the annotation that says what a caller gives, or None where that is open.

        An `InitVar` is only handed to the method that runs after `__init__`: where its parameter there is annotated in
        another way, nothing tells which of the two is meant.
        """
        if not isinstance(annotation, ast.Subscript):
            return annotation
        if self.canonical(annotation.value, item.owner.source) != "dataclasses.InitVar":
            return annotation
        for name in ("__post_init__", "__post_init_post_parse__"):
            method = _method(item.owner.node, name)
            if method is None:
                continue
            for argument in (*method.args.posonlyargs, *method.args.args, *method.args.kwonlyargs):
                if argument.arg == item.name and argument.annotation is not None:
                    same = ast.dump(argument.annotation) == ast.dump(annotation.slice)
                    return annotation if same else None
        return annotation

    def pydantic_decorator(self, found: _Class) -> ast.expr | None:
        """Return the decorator by which pydantic makes a dataclass, or None.

        Such a class converts values as a model does.
        """
        for decorator in found.node.decorator_list:
            call = decorator.func if isinstance(decorator, ast.Call) else decorator
            if self.canonical(call, found.source) == "pydantic.dataclasses.dataclass":
                return decorator
        return None

    def pydantic_major(self, found: _Class) -> int | None:
        """Return the release of pydantic that a model is made for, 1 or 2.

        None where nothing tells.
        """
        from cfgfix.config.schema.pydantic_major import major_asked, major_of_code

        key = self.class_place(found)
        if key not in self.majors:
            above = self.bases(found)
            imports = {
                (module, member)
                for item in above
                for module, member, level in item.source.imports.values()
                if not level
            }
            configured = any(_states(item.node, "model_config") for item in above)
            by_code = major_of_code(imports, configured=configured)
            asked = None
            if by_code != 1 or not any(module.startswith("pydantic.v1") for module, _ in imports):
                asked = major_asked(os.path.dirname(found.source.path), self.looked)
            self.majors[key] = asked or by_code
        return self.majors[key]

    def may_be_none(self, annotation: ast.expr | None, source: _Source) -> bool:
        """Tell whether a type takes None, or may.

        Pydantic 1 then takes a field without a default as absent.
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
            outer = self.canonical(annotation.value, source)
            inner = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
            if outer in ("typing.Annotated", "typing_extensions.Annotated"):
                return self.may_be_none(inner[0], source)
            if outer in ("typing.Union", "typing.Literal", "typing_extensions.Literal"):
                return any(self.may_be_none(part, source) for part in inner)
            return outer == "typing.Optional"
        if self.canonical(annotation, source) in ("typing.Any", "typing_extensions.Any", "object"):
            return True
        # An alias of a type may stand for an optional one.
        meant = self.resolve(annotation, source)
        if isinstance(meant, tuple) and isinstance(meant[1], (ast.Assign, ast.AnnAssign)):
            value = meant[1].value
            return (
                value is None or isinstance(value, (ast.Name, ast.Call)) or self.may_be_none(value, meant[0])
            )
        return False

    def constrain(self, schema: dict[str, Any], options: dict[str, ast.expr]) -> None:
        """Add the bounds that a pydantic `Field` states."""
        types = schema.get("type")
        for option, keyword in _FIELD_BOUNDS.items():
            value = _literal(options.get(option))
            if isinstance(value, (int, float)) and not isinstance(value, bool) and types is not None:
                schema[keyword] = value
        for option, (for_text, for_list) in _FIELD_LENGTHS.items():
            value = _literal(options.get(option))
            if isinstance(value, int) and not isinstance(value, bool):
                if types == "string":
                    schema[for_text] = value
                elif types == "array":
                    schema[for_list] = value

    def default(self, default: ast.expr | None, options: dict[str, ast.expr], source: _Source) -> Any:
        factory = options.get("default_factory", options.get("factory"))
        if factory is not None:
            if isinstance(factory, ast.Lambda):
                return self.value(factory.body, source)
            name = self.canonical(factory, source)
            return {"list": [], "dict": {}, "set": [], "tuple": []}.get(name or "", _NO_VALUE)
        return self.value(default, source) if default is not None else _NO_VALUE

    def value(self, expression: ast.expr, source: _Source, depth: int = 0) -> Any:
        """Return a default as JSON, constants followed by name.

        `_NO_VALUE` where it is none.
        """
        found = _literal(expression)
        if found is not _NO_VALUE or depth > 10:
            return found
        if isinstance(expression, ast.Call) and not expression.args and not expression.keywords:
            return {"list": [], "dict": {}}.get(_dotted(expression.func) or "", _NO_VALUE)
        if isinstance(expression, ast.BinOp):
            left = self.value(expression.left, source, depth + 1)
            return _combine(expression.op, left, self.value(expression.right, source, depth + 1))
        if isinstance(expression, (ast.List, ast.Tuple)):
            items = [self.value(item, source, depth + 1) for item in expression.elts]
            return _NO_VALUE if any(item is _NO_VALUE for item in items) else items
        text = _dotted(expression)
        if text is None:
            return _NO_VALUE
        target = self.definition(source, text)
        if (
            isinstance(target, tuple)
            and isinstance(target[1], (ast.Assign, ast.AnnAssign))
            and target[1].value is not None
        ):
            return self.value(target[1].value, target[0], depth + 1)
        owner, _, member = text.rpartition(".")
        above = self.definition(source, owner) if owner else None
        if isinstance(above, _Class):
            for statement in above.node.body:
                if isinstance(statement, ast.Assign) and any(
                    isinstance(t, ast.Name) and t.id == member for t in statement.targets
                ):
                    return self.value(statement.value, above.source, depth + 1)
        return _NO_VALUE

    def type(
        self,
        annotation: ast.expr,
        source: _Source,
        path: tuple[str, ...],
        depth: int,
        stack: tuple[ast.ClassDef, ...],
        *,
        lax: bool,
    ) -> dict[str, Any]:
        """Return the schema of an annotation; {} for what it cannot know."""
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
                return self.type(parsed, source, path, depth + 1, stack, lax=lax)
            return {}
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            return self.union(_alternatives(annotation), source, path, depth, stack, lax=lax)
        if isinstance(annotation, ast.Subscript):
            return self.subscripted(annotation, source, path, depth, stack, lax=lax)
        if isinstance(annotation, ast.Call):
            return self.constructed(annotation, source, lax=lax)
        name = self.canonical(annotation, source)
        if name is None:
            return {}
        if name in _PLAIN and name not in source.names:
            return _laxer(dict(_PLAIN[name]), lax=lax)
        if name in _CONSTRAINED:
            kind, bounds = _CONSTRAINED[name]
            return {**_laxer({"type": kind}, lax=lax and not name.startswith("pydantic.Strict")), **bounds}
        if name in _LISTS | _TUPLES:
            return {"type": "array"}
        if name in _DICTS:
            return {"type": "object"}
        found = self.resolve(annotation, source)
        if isinstance(found, _Class):
            if self.kind(found) == "enum":
                return self.enumeration(found, model=lax)
            return self.section(found, path, depth, stack)
        if isinstance(found, tuple):
            target, node = found
            value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
            if (
                isinstance(value, ast.Call)
                and self.canonical(value.func, target) == "typing.NewType"
                and len(value.args) == 2
            ):
                value = value.args[1]
            if isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp)):
                return self.type(value, target, path, depth + 1, stack, lax=lax)
        return {}

    def subscripted(
        self,
        annotation: ast.Subscript,
        source: _Source,
        path: tuple[str, ...],
        depth: int,
        stack: tuple[ast.ClassDef, ...],
        *,
        lax: bool,
    ) -> dict[str, Any]:
        name = self.canonical(annotation.value, source) or ""
        name = name.replace("typing_extensions.", "typing.")
        arguments = (
            list(annotation.slice.elts) if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        )
        if name == "typing.Optional":
            return self.union([arguments[0], ast.Constant(None)], source, path, depth, stack, lax=lax)
        if name == "typing.Union":
            return self.union(arguments, source, path, depth, stack, lax=lax)
        if name == "typing.Literal":
            allowed = [_literal(item) for item in arguments]
            return {} if any(value is _NO_VALUE for value in allowed) else {"enum": allowed}
        if name == "typing.Annotated" or name in _WRAPPERS:
            return self.type(arguments[0], source, path, depth + 1, stack, lax=lax)
        if name in _LISTS:
            items = self.type(arguments[0], source, (*path, "[]"), depth + 1, stack, lax=lax)
            return {"type": "array", "items": items} if items else {"type": "array"}
        if name in _TUPLES:
            if (
                len(arguments) == 2
                and isinstance(arguments[1], ast.Constant)
                and arguments[1].value is Ellipsis
            ):
                items = self.type(arguments[0], source, (*path, "[]"), depth + 1, stack, lax=lax)
                return {"type": "array", "items": items} if items else {"type": "array"}
            parts = [self.type(item, source, (*path, "[]"), depth + 1, stack, lax=lax) for item in arguments]
            return (
                {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
                if parts
                else {"type": "array"}
            )
        if name in _DICTS:
            values = (
                self.type(arguments[1], source, (*path, "*"), depth + 1, stack, lax=lax)
                if len(arguments) == 2
                else {}
            )
            return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
        found = self.resolve(annotation.value, source)
        return self.section(found, path, depth, stack) if isinstance(found, _Class) else {}

    def union(
        self,
        parts: list[ast.expr],
        source: _Source,
        path: tuple[str, ...],
        depth: int,
        stack: tuple[ast.ClassDef, ...],
        *,
        lax: bool,
    ) -> dict[str, Any]:
        schemas = [self.type(item, source, path, depth + 1, stack, lax=lax) for item in parts]
        if any(not schema for schema in schemas):
            return {}
        null = any(schema == {"type": "null"} for schema in schemas)
        rest = [schema for schema in schemas if schema != {"type": "null"}]
        if len(rest) == 1:
            return _nullable(rest[0]) if null else rest[0]
        if not rest:
            return {"type": "null"}
        if all(set(schema) == {"type"} and isinstance(schema["type"], str) for schema in rest):
            types: list[str] = []
            for schema in rest:
                if schema["type"] not in types:
                    types.append(schema["type"])
            return {"type": [*types, "null"] if null else types if len(types) > 1 else types[0]}
        return {"anyOf": [*rest, {"type": "null"}] if null else rest}

    def constructed(self, call: ast.Call, source: _Source, *, lax: bool) -> dict[str, Any]:
        """Return the schema of pydantic's `conint(ge=1)` and its kin."""
        name = self.canonical(call.func, source) or ""
        kind = {"conint": "integer", "confloat": "number", "constr": "string"}.get(
            name.removeprefix("pydantic.")
        )
        if kind is None or not name.startswith("pydantic."):
            return {}
        schema = _laxer({"type": kind}, lax=lax)
        self.constrain(schema, {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg})
        return schema

    def enumeration(self, found: _Class, *, model: bool) -> dict[str, Any]:
        """Return what an enumeration takes: its values for pydantic.

        Names too where the program may look up by either.
        """
        values: list[Any] = []
        for statement in found.node.body:
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    if isinstance(target, ast.Name) and not target.id.startswith("_"):
                        value = self.value(statement.value, found.source)
                        automatic = isinstance(statement.value, ast.Call)
                        if value is _NO_VALUE and (model or not automatic):
                            return {}
                        names = [] if model else [target.id]
                        for each in ([] if value is _NO_VALUE else [value]) + names:
                            if isinstance(each, (str, int, float)) and each not in values:
                                values.append(each)
        return {"enum": values} if values else {}


_LOADS = frozenset(
    {
        "yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load", "json.load", "json.loads", "toml.load",
        "ruamel.yaml.safe_load", "ruamel.yaml.load", "oyaml.load", "hjson.load",
    }
)  # fmt: skip


def _dotted(expression: ast.expr) -> str | None:
    parts: list[str] = []
    while isinstance(expression, ast.Attribute):
        parts.append(expression.attr)
        expression = expression.value
    if not isinstance(expression, ast.Name):
        return None
    parts.append(expression.id)
    return ".".join(reversed(parts))


def _literal(expression: ast.expr | None) -> Any:
    """Return a literal as JSON data; `_NO_VALUE` for anything else, also for numbers JSON has not."""
    if expression is None:
        return _NO_VALUE
    try:
        value = ast.literal_eval(expression)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _NO_VALUE
    return _as_json(value)


def _as_json(value: Any, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        return _NO_VALUE
    if value is None or isinstance(value, (bool, int, str)):
        return value if not isinstance(value, str) or len(value) <= MAX_LITERAL else _NO_VALUE
    if isinstance(value, float):
        return value if abs(value) < float("inf") else _NO_VALUE
    if isinstance(value, (list, tuple)):
        items = [_as_json(item, depth + 1) for item in value]
        return _NO_VALUE if any(item is _NO_VALUE for item in items) else items
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            return _NO_VALUE
        entries = {key: _as_json(item, depth + 1) for key, item in value.items()}
        return _NO_VALUE if any(item is _NO_VALUE for item in entries.values()) else entries
    return _NO_VALUE


def _combine(operator: ast.operator, left: Any, right: Any) -> Any:
    """Return a product, sum, difference or small power of two numbers, as in `10 * 1024 ** 2`."""
    if any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in (left, right)):
        return _NO_VALUE
    try:
        if isinstance(operator, ast.Mult):
            result = left * right
        elif isinstance(operator, ast.Add):
            result = left + right
        elif isinstance(operator, ast.Sub):
            result = left - right
        elif isinstance(operator, ast.Div):
            result = left / right
        elif isinstance(operator, ast.FloorDiv):
            result = left // right
        elif isinstance(operator, ast.Pow) and abs(left) <= 1024 and abs(right) <= 64:
            result = left**right
        else:
            return _NO_VALUE
    except (ArithmeticError, ValueError):
        return _NO_VALUE
    return _NO_VALUE if isinstance(result, complex) or abs(result) > 1e300 else result


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
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


def _states(node: ast.ClassDef, name: str) -> bool:
    """Tell whether the body of a class gives a name a value."""
    for statement in node.body:
        targets = (
            statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        )
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return True
    return False


def _laxer(schema: dict[str, Any], *, lax: bool) -> dict[str, Any]:
    kind = schema.get("type")
    return dict(_PYDANTIC_LAX[kind]) if lax and isinstance(kind, str) and kind in _PYDANTIC_LAX else schema


def _alternatives(annotation: ast.expr) -> list[ast.expr]:
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return [*_alternatives(annotation.left), *_alternatives(annotation.right)]
    return [annotation]


def _entry(expression: ast.expr | None, name: str) -> ast.expr | None:
    """Return one entry of a dict display or of a call's keywords."""
    if isinstance(expression, ast.Dict):
        for key, value in zip(expression.keys, expression.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == name:
                return value
    elif isinstance(expression, ast.Call):
        for keyword in expression.keywords:
            if keyword.arg == name:
                return keyword.value
    return None


def _member(found: _Class, rest: str) -> _Class | None:
    for part in rest.split(".") if rest else []:
        inner = next(
            (item for item in found.node.body if isinstance(item, ast.ClassDef) and item.name == part), None
        )
        if inner is None:
            return None
        found = _Class(found.source, inner, f"{found.qualname}.{part}")
    return found


def _extra_of(decorator: ast.expr) -> str:
    """Return what a dataclass made by pydantic does with unknown keys; its own default is to ignore them (since 1.10)."""
    stated = next(
        (
            keyword.value
            for keyword in (decorator.keywords if isinstance(decorator, ast.Call) else ())
            if keyword.arg == "config"
        ),
        None,
    )
    if stated is None:
        return "ignored"
    extra = _entry(stated, "extra")
    if extra is None:
        return "ignored" if isinstance(stated, (ast.Dict, ast.Call)) else "free"
    text = extra.value if isinstance(extra, ast.Constant) else _dotted(extra) or ""
    return {"forbid": "fatal", "ignore": "ignored"}.get(str(text).rsplit(".", 1)[-1], "free")


def _method(node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    return next((item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == name), None)


def _passes_on(init: ast.FunctionDef, name: str) -> bool:
    """Tell whether an `__init__` hands its `**kwargs` to the base class."""
    for node in ast.walk(init):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "__init__"
            and any(
                keyword.arg is None and isinstance(keyword.value, ast.Name) and keyword.value.id == name
                for keyword in node.keywords
            )
        ):
            return True
    return False


def _late(
    body: list[ast.stmt],
    source: _Source,
    result: dict[str, tuple[ast.expr, _Source] | None],
    guarded: set[str],
    *,
    direct: bool,
) -> None:
    """Note assignments to fields: under `if self.x is None` (or `not self.x`) a default, elsewhere something computed."""
    for statement in body:
        if isinstance(statement, ast.If):
            _late(statement.body, source, result, guarded | _tested(statement.test), direct=direct)
            _late(statement.orelse, source, result, guarded, direct=direct)
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                name = None
                if (
                    isinstance(target, ast.Attribute)
                    and isinstance(target.value, ast.Name)
                    and target.value.id == "self"
                ):
                    name = target.attr
                if name is None:
                    continue
                value = statement.value
                if name in guarded:
                    result[name] = (value, source)
                elif (
                    isinstance(value, ast.BoolOp)
                    and isinstance(value.op, ast.Or)
                    and len(value.values) == 2
                    and _dotted(value.values[0]) in (f"self.{name}", name)
                ):
                    result[name] = (value.values[1], source)
                elif direct:
                    result[name] = None


def _tested(test: ast.expr) -> set[str]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        text = _dotted(test.operand)
    elif (
        isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and isinstance(test.ops[0], (ast.Is, ast.Eq))
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value is None
    ):
        text = _dotted(test.left)
    else:
        return set()
    return {text.removeprefix("self.")} if text is not None else set()


def _first_paragraph(text: str | None) -> str | None:
    if not text:
        return None
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    return paragraph[:MAX_DESCRIPTION] or None


_DOC_ENTRY = re.compile(r"^\s{2,12}([A-Za-z_]\w*)\s*(?:\([^)]{0,200}\))?\s*:\s+(\S.{0,600})$")


def _attribute_docs(text: str | None) -> dict[str, str]:
    """Return what a docstring's `Args:` or `Attributes:` section says of each name."""
    found: dict[str, str] = {}
    inside = False
    for line in (text or "").splitlines():
        bare = line.strip()
        if bare in ("Args:", "Arguments:", "Attributes:", "Parameters:", "Params:"):
            inside = True
            continue
        if inside and bare.endswith(":") and not line.startswith(" "):
            inside = False
        match = _DOC_ENTRY.match(line) if inside else None
        if match is not None:
            found.setdefault(match[1], match[2].strip())
    return found
