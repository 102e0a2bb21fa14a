"""The files that classes of configs stand in: names followed through imports, classes with their bases.

Nothing is imported and nothing is run.
"""

from __future__ import annotations

import ast
import os

from cfgfix.core.errors import CfgfixError
from cfgfix.core.source_file import read_source

MAX_FILES = 500
"""Files that one class may lead to."""
_DATACLASS = frozenset(
    {
        "dataclasses.dataclass", "pydantic.dataclasses.dataclass", "chex.dataclass", "flax.struct.dataclass",
        "attr.s", "attr.attrs", "attr.dataclass", "attr.define", "attr.frozen", "attr.mutable", "attr.attributes",
        "attrs.define", "attrs.frozen", "attrs.mutable",
    }
)  # fmt: skip
_ATTRS_OLD = frozenset({"attr.s", "attr.attrs", "attr.attributes"})
"""Decorators that take fields without annotation; the newer ones take both."""
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


class ClassSource:
    """One parsed file."""

    __slots__ = ("comments", "imports", "names", "path", "stars", "tree")

    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        self.path = path
        self.tree = tree
        self.comments = _comments_by_line(text)
        self.names: dict[str, ast.AST] = {}
        self.imports: dict[str, tuple[str, str | None, int]] = {}
        self.stars: list[tuple[str, int]] = []
        _collect_bindings(tree.body, self)


class ConfigClass:
    """A class definition in its file."""

    __slots__ = ("node", "qualname", "source")

    def __init__(self, source: ClassSource, node: ast.ClassDef, qualname: str) -> None:
        self.source = source
        self.node = node
        self.qualname = qualname


class ClassFiles:
    """The parsed Python files behind a schema, and what names in them stand for."""

    def __init__(self, root: str, source_roots: tuple[str, ...]) -> None:
        self.root = root
        self.roots = [os.path.join(root, folder) for folder in source_roots] + [root]
        if os.path.isdir(os.path.join(root, "src")):
            self.roots.append(os.path.join(root, "src"))
        self.known: dict[str, ClassSource | None] = {}
        self.used: set[str] = set()

    def locate(self, place: str) -> str | None:
        """Return the path of a Python file, given by path or as a dotted module.

        None where there is no such file.
        """
        if place.endswith(".py") or "/" in place or os.sep in place:
            path = place if os.path.isabs(place) else os.path.join(self.root, place)
            return os.path.normpath(path) if os.path.isfile(path) else None
        return self.module_file(place, None, 0)

    def module_file(self, name: str, importer: str | None, level: int) -> str | None:
        """Return the file of a module as an importing file finds it, or None."""
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

    def load(self, path: str) -> ClassSource | None:
        """Return a Python file parsed, or None where the file cannot be read or parsed."""
        if path in self.known:
            return self.known[path]
        source = None
        if len(self.known) < MAX_FILES:
            import warnings

            try:
                text = read_source(path).text
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    source = ClassSource(path, text, ast.parse(text))
            except (CfgfixError, SyntaxError, ValueError, RecursionError, MemoryError):
                source = None
        self.known[path] = source
        if source is not None:
            self.used.add(path)
        return source

    def canonical(self, expression: ast.expr, source: ClassSource) -> str | None:
        """Return the dotted name of an expression with imports resolved.

        None for an expression that is not a dotted name.
        """
        text = dotted(expression)
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
        self, source: ClassSource, name: str, depth: int = 0
    ) -> ConfigClass | tuple[ClassSource, ast.AST] | None:
        """Return the definition that a dotted name in a file stands for.

        A class, or another definition with its file; None where there is none in the project.
        """
        if depth > 20:
            return None
        head, _, rest = name.partition(".")
        node = source.names.get(head)
        if node is not None:
            if isinstance(node, ast.ClassDef):
                return inner_class(ConfigClass(source, node, head), rest)
            return (source, node) if not rest else None
        entry = source.imports.get(head)
        if entry is not None:
            module, member, level = entry
            if member is None:
                # `import a.b` binds `a`; the rest of the name walks down.
                return self._class_through(module, rest, source, depth)
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

    def _class_through(
        self, module: str, rest: str, source: ClassSource, depth: int
    ) -> ConfigClass | tuple[ClassSource, ast.AST] | None:
        parts = rest.split(".")
        for count in range(len(parts) - 1, -1, -1):
            path = self.module_file(".".join([module, *parts[:count]]), source.path, 0)
            target = self.load(path) if path is not None else None
            if target is not None and parts[count:] != [""]:
                return self.definition(target, ".".join(parts[count:]), depth + 1)
        return None

    def resolve(
        self, expression: ast.expr, source: ClassSource
    ) -> ConfigClass | tuple[ClassSource, ast.AST] | None:
        """Return the definition that an expression names, or None; see `definition`."""
        text = dotted(expression)
        return self.definition(source, text) if text is not None else None

    def kind(self, found: ConfigClass, depth: int = 0) -> str | None:
        """Return the kind of a config class, or None where the class states no keys.

        `dataclass`, `attrs`, `model`, `typed-dict`, `named-tuple`, `enum` or `plain`.
        """
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
            if isinstance(above, ConfigClass) and above.node is not found.node:
                inherited = inherited or self.kind(above, depth + 1)
        return inherited or ("plain" if method_of(found.node, "__init__") is not None else None)

    def bases(self, found: ConfigClass, depth: int = 0) -> list[ConfigClass]:
        """Return a class and its bases inside the project, nearest first."""
        result = [found]
        if depth < 20:
            for base in found.node.bases:
                above = self.resolve(base.value if isinstance(base, ast.Subscript) else base, found.source)
                if isinstance(above, ConfigClass) and all(above.node is not item.node for item in result):
                    for item in self.bases(above, depth + 1):
                        if all(item.node is not other.node for other in result):
                            result.append(item)
        return result

    def outside(self, found: ConfigClass) -> bool:
        """Tell whether a class has a base outside of the project that may add keys."""
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
                if not isinstance(self.resolve(expression, item.source), ConfigClass):
                    return True
        return False

    def class_place(self, found: ConfigClass) -> str:
        """Return a class as `path:Class`, the path relative to the root if below it."""
        path = found.source.path
        relative = os.path.relpath(path, self.root)
        return f"{(path if relative.startswith('..') else relative).replace(os.sep, '/')}:{found.qualname}"


def _collect_bindings(body: list[ast.stmt], source: ClassSource) -> None:
    """Note the names that the top level of a file binds, also under `if` and `try`.

    A first binding in a branch wins.
    """
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
            _collect_bindings(statement.body, source)
            _collect_bindings(statement.orelse, source)
        elif isinstance(statement, ast.Try):
            _collect_bindings(statement.body, source)
            for handler in statement.handlers:
                _collect_bindings(handler.body, source)


def _comments_by_line(text: str) -> dict[int, str]:
    """Return the trailing comment of each line, by line number.

    Lines that are nothing but a comment are left out.
    """
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


def dotted(expression: ast.expr) -> str | None:
    """Return an expression as a dotted name, or None where it is none."""
    parts: list[str] = []
    while isinstance(expression, ast.Attribute):
        parts.append(expression.attr)
        expression = expression.value
    if not isinstance(expression, ast.Name):
        return None
    parts.append(expression.id)
    return ".".join(reversed(parts))


def inner_class(found: ConfigClass, rest: str) -> ConfigClass | None:
    """Return the class nested in a class under a dotted name, or None."""
    for part in rest.split(".") if rest else []:
        inner = next(
            (item for item in found.node.body if isinstance(item, ast.ClassDef) and item.name == part), None
        )
        if inner is None:
            return None
        found = ConfigClass(found.source, inner, f"{found.qualname}.{part}")
    return found


def method_of(node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """Return the method of that name in the body of a class, or None."""
    return next((item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == name), None)
