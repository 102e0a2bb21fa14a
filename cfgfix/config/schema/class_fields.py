"""The fields of a class that loads a config: what it takes, what else it accepts, and how its code loads it."""

from __future__ import annotations

import ast
import os
import re
from typing import Any

from cfgfix.config.schema.class_files import ClassFiles, ClassSource, ConfigClass, dotted, method_of

MAX_DESCRIPTION = 600
"""Code points kept of a comment."""
FIELD = frozenset(
    {
        "dataclasses.field", "pydantic.Field", "pydantic.fields.Field", "attr.ib", "attr.attrib", "attr.field",
        "attrs.field", "flax.struct.field",
    }
)  # fmt: skip
_LOADS = frozenset(
    {
        "yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load", "json.load", "json.loads", "toml.load",
        "ruamel.yaml.safe_load", "ruamel.yaml.load", "oyaml.load", "hjson.load",
    }
)  # fmt: skip
_DOC_ENTRY = re.compile(r"^\s{2,12}([A-Za-z_]\w*)\s*(?:\([^)]{0,200}\))?\s*:\s+(\S.{0,600})$")


class ClassField:
    """A field of a class, as a key that a config may have."""

    __slots__ = ("annotation", "comment", "default", "line", "name", "owner", "required")

    def __init__(
        self,
        name: str,
        owner: ConfigClass,
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


class ClassFields:
    """Reads the fields of classes in a set of files."""

    def __init__(self, files: ClassFiles) -> None:
        self.files = files
        self.looked: list[str] = []
        """Files that were looked for to tell the release of pydantic."""
        self.majors: dict[str, int | None] = {}

    def all_fields(self, found: ConfigClass, kind: str) -> tuple[list[ClassField], str]:
        """Return the fields of a class in order, and what becomes of unknown keys.

        That is `fatal`, `ignored` or `free`.
        """
        init = method_of(found.node, "__init__")
        if kind in ("plain", "dataclass", "attrs") and init is not None:
            return self.parameters(found, init)
        if kind == "plain":
            for item in self.files.bases(found)[1:]:
                init = method_of(item.node, "__init__")
                if init is not None:
                    return self.parameters(item, init)
            return [], "free"
        fields: dict[str, ClassField] = {}
        total = True
        for item in reversed(self.files.bases(found)):
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

    def own_fields(self, found: ConfigClass, kind: str, *, total: bool) -> list[ClassField]:
        """Return the fields stated in the body of a class, without its bases."""
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
                and self.files.canonical(statement.value.func, found.source) in FIELD
            ):
                name, annotation, default = statement.targets[0].id, None, statement.value
            else:
                continue
            outer = (
                self.files.canonical(
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
                    comment = first_paragraph(after.value.value)
            result.append(
                ClassField(
                    name, found, annotation, default, statement.lineno, required=required, comment=comment
                )
            )
        return result

    def parameters(self, found: ConfigClass, init: ast.FunctionDef) -> tuple[list[ClassField], str]:
        """Return an `__init__`'s parameters as fields, and what becomes of unknown keys.

        A parameter without an annotation takes that of the field of the same name.
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
        docs = attribute_docs(ast.get_docstring(init))
        result = []
        for argument, default in pairs:
            statement = annotated.get(argument.arg)
            annotation = argument.annotation or (statement.annotation if statement is not None else None)
            comment = found.source.comments.get(argument.lineno) if argument.lineno != init.lineno else None
            result.append(
                ClassField(
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
        for item in self.files.bases(found)[1:]:
            above = method_of(item.node, "__init__")
            if above is not None and _passes_on(init, arguments.kwarg.arg):
                more, closed = self.parameters(item, above)
                known = {field.name for field in result}
                return result + [field for field in more if field.name not in known], closed
        return result, "free"

    def extra_keys(self, found: ConfigClass) -> str:
        """Return what becomes of unknown keys in a pydantic model.

        The default of pydantic is to ignore them.
        """
        for item in self.files.bases(found):
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
                    value = (
                        entry_of_dict_display(statement.value, "extra")
                        if statement.value is not None
                        else None
                    )
                elif isinstance(statement, ast.ClassDef) and statement.name == "Config":
                    for inner in statement.body:
                        if isinstance(inner, ast.Assign) and any(
                            isinstance(t, ast.Name) and t.id == "extra" for t in inner.targets
                        ):
                            value = inner.value
                if value is not None:
                    text = value.value if isinstance(value, ast.Constant) else dotted(value) or ""
                    return {"forbid": "fatal", "ignore": "ignored"}.get(str(text).rsplit(".", 1)[-1], "free")
            for keyword in item.node.keywords:
                if keyword.arg == "extra" and isinstance(keyword.value, ast.Constant):
                    return {"forbid": "fatal", "ignore": "ignored"}.get(str(keyword.value.value), "free")
        return "ignored"

    def strict(self, found: ConfigClass) -> bool:
        """Tell whether a pydantic model is strict, so that no value is converted."""
        for item in self.files.bases(found):
            for statement in item.node.body:
                if isinstance(statement, ast.Assign) and any(
                    isinstance(t, ast.Name) and t.id == "model_config" for t in statement.targets
                ):
                    value = entry_of_dict_display(statement.value, "strict")
                    return isinstance(value, ast.Constant) and value.value is True
        return False

    def loading(self, found: ConfigClass, path: tuple[str, ...]) -> dict[str, Any]:
        """Return what becomes of unknown and absent keys where a class loads its own file.

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
                    called = self.files.canonical(node.value.func, found.source) or ""
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

    def late_defaults(self, found: ConfigClass) -> dict[str, tuple[ast.expr, ClassSource] | None]:
        """Return the defaults that `__post_init__` and its like give to fields left None.

        By field name; None for a default that is computed.
        """
        result: dict[str, tuple[ast.expr, ClassSource] | None] = {}
        for item in reversed(self.files.bases(found)):
            for name in ("__post_init__", "__attrs_post_init__", "__init__"):
                method = method_of(item.node, name)
                if method is not None:
                    _note_assignments(method.body, item.source, result, set(), direct=name != "__init__")
        return result

    def given(self, item: ClassField, annotation: ast.expr | None) -> ast.expr | None:
        """Return the annotation of the value that a caller gives for a field.

        None where that is open: an `InitVar` is only handed to the method that runs after `__init__`, and where its parameter
        there is annotated in another way, nothing tells which of the two is meant.
        """
        if not isinstance(annotation, ast.Subscript):
            return annotation
        if self.files.canonical(annotation.value, item.owner.source) != "dataclasses.InitVar":
            return annotation
        for name in ("__post_init__", "__post_init_post_parse__"):
            method = method_of(item.owner.node, name)
            if method is None:
                continue
            for argument in (*method.args.posonlyargs, *method.args.args, *method.args.kwonlyargs):
                if argument.arg == item.name and argument.annotation is not None:
                    same = ast.dump(argument.annotation) == ast.dump(annotation.slice)
                    return annotation if same else None
        return annotation

    def pydantic_decorator(self, found: ConfigClass) -> ast.expr | None:
        """Return the decorator that makes a class a pydantic dataclass, or None.

        Such a class converts values as a model does.
        """
        for decorator in found.node.decorator_list:
            call = decorator.func if isinstance(decorator, ast.Call) else decorator
            if self.files.canonical(call, found.source) == "pydantic.dataclasses.dataclass":
                return decorator
        return None

    def pydantic_major(self, found: ConfigClass) -> int | None:
        """Return the major release of pydantic that a model is written for, 1 or 2.

        None where nothing tells.
        """
        from cfgfix.config.schema.pydantic_major import pydantic_major, pydantic_major_of_imports

        key = self.files.class_place(found)
        if key not in self.majors:
            above = self.files.bases(found)
            imports = {
                (module, member)
                for item in above
                for module, member, level in item.source.imports.values()
                if not level
            }
            configured = any(_assigns_name(item.node, "model_config") for item in above)
            by_code = pydantic_major_of_imports(imports, configured=configured)
            asked = None
            if by_code != 1 or not any(module.startswith("pydantic.v1") for module, _ in imports):
                asked = pydantic_major(os.path.dirname(found.source.path), self.looked)
            self.majors[key] = asked or by_code
        return self.majors[key]


def _assigns_name(node: ast.ClassDef, name: str) -> bool:
    """Tell whether the body of a class assigns a name."""
    for statement in node.body:
        targets = (
            statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        )
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return True
    return False


def entry_of_dict_display(expression: ast.expr | None, name: str) -> ast.expr | None:
    """Return the value of one key in a dict display, or of one keyword of a call.

    None where there is no such entry.
    """
    if isinstance(expression, ast.Dict):
        for key, value in zip(expression.keys, expression.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == name:
                return value
    elif isinstance(expression, ast.Call):
        for keyword in expression.keywords:
            if keyword.arg == name:
                return keyword.value
    return None


def _extra_of(decorator: ast.expr) -> str:
    """Return what becomes of unknown keys in a dataclass made by pydantic.

    Its own default is to ignore them (since 1.10).
    """
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
    extra = entry_of_dict_display(stated, "extra")
    if extra is None:
        return "ignored" if isinstance(stated, (ast.Dict, ast.Call)) else "free"
    text = extra.value if isinstance(extra, ast.Constant) else dotted(extra) or ""
    return {"forbid": "fatal", "ignore": "ignored"}.get(str(text).rsplit(".", 1)[-1], "free")


def _passes_on(init: ast.FunctionDef, name: str) -> bool:
    """Tell whether an `__init__` passes its `**kwargs` on to the base class."""
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


def _note_assignments(
    body: list[ast.stmt],
    source: ClassSource,
    result: dict[str, tuple[ast.expr, ClassSource] | None],
    guarded: set[str],
    *,
    direct: bool,
) -> None:
    """Add the fields that a method body assigns to `result`, each with its default.

    Under `if self.x is None` (or `not self.x`) the value is a default, elsewhere something computed (None).
    """
    for statement in body:
        if isinstance(statement, ast.If):
            _note_assignments(
                statement.body, source, result, guarded | _names_tested(statement.test), direct=direct
            )
            _note_assignments(statement.orelse, source, result, guarded, direct=direct)
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
                    and dotted(value.values[0]) in (f"self.{name}", name)
                ):
                    result[name] = (value.values[1], source)
                elif direct:
                    result[name] = None


def _names_tested(test: ast.expr) -> set[str]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        text = dotted(test.operand)
    elif (
        isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and isinstance(test.ops[0], (ast.Is, ast.Eq))
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value is None
    ):
        text = dotted(test.left)
    else:
        return set()
    return {text.removeprefix("self.")} if text is not None else set()


def first_paragraph(text: str | None) -> str | None:
    """Return the first paragraph of a docstring on one line, or None."""
    if not text:
        return None
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    return paragraph[:MAX_DESCRIPTION] or None


def attribute_docs(text: str | None) -> dict[str, str]:
    """Return the text of each name in a docstring's `Args:` or `Attributes:` section."""
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
