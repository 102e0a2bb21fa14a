"""Read from the sources in wheels which arguments a class's constructor or a function takes.

What a constructor takes through `**kwargs` is followed to where it goes: to the constructor of a base class, to a function, out of
the dictionary by name, or into a check that refuses the rest. Where that cannot be read, the callable counts as one that takes anything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

DEPTH = 10
"""How far constructors are followed."""
KEEPS = frozenset(
    {
        "allow_initializer_layout",
        "default",
        "deprecated",
        "deprecated_args",
        "deprecated_arg_values",
        "filter_traceback",
        "inject_mesh",
        "no_automatic_dependency_tracking",
        "set_random_seed",
    }
)
"""Decorators of constructors that leave the arguments as they are, or add such as are known here."""
LOOKED_AT = frozenset(
    {
        "bool",
        "functional_init_arguments",
        "is_functional_model_init_params",
        "len",
        "list",
        "next",
        "set",
        "sorted",
        "str",
        "tuple",
    }
)
"""Functions that only look at a dictionary of arguments."""
WARNS = frozenset({"warn", "warning", "warn_once", "log_first_n", "log_every_n"})


class Taken(NamedTuple):
    """What a callable takes.

    Attributes:
        order: The parameters that go by position.
        own: The parameters that its own definition names.
        inherited: Those that it takes through `**kwargs` for a base class.
        ignored: Those among them that it takes and forgets.
        any_other: Whether it takes, or may take, any other keyword.
    """

    order: tuple[str, ...] = ()
    own: frozenset[str] = frozenset()
    inherited: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    any_other: bool = False

    @property
    def names(self) -> frozenset[str]:
        """All parameters."""
        return self.own | self.inherited


class _Line:
    """A class with those above it, in the order in which Python looks through them."""

    def __init__(self, archive: Any, node: ast.ClassDef, dotted: str) -> None:
        self.unknown = False
        found = list(self._walk(archive, node, dotted, 0))
        # A class that several inherit from comes after all of them.
        self.classes = [
            item for n, item in enumerate(found) if all(item[0] is not later[0] for later in found[n + 1 :])
        ]

    def _walk(
        self, archive: Any, node: ast.ClassDef, dotted: str, depth: int
    ) -> Iterator[tuple[ast.ClassDef, str]]:
        yield node, dotted
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id == "object":
                continue
            found = archive.dotted_definition(dotted, base)
            if found is not None and isinstance(found[0], ast.ClassDef) and depth < DEPTH:
                yield from self._walk(archive, found[0], found[1], depth + 1)
            else:
                self.unknown = True

    def method(self, name: str, start: int = 0) -> tuple[ast.FunctionDef, int] | None:
        """Return a method as found from a place of the line on, and the place of its class."""
        for number, (node, _) in enumerate(self.classes[start:], start):
            for item in reversed(node.body):
                if isinstance(item, ast.FunctionDef) and item.name == name:
                    return item, number
        return None


def signature(archive: Any, node: Any, dotted: str, *, method: bool = False, depth: int = 0) -> Taken | None:
    """Return what a class's constructor, a function or a method takes; None where that cannot be read."""
    if depth > DEPTH:
        return None
    if isinstance(node, ast.ClassDef):
        line = _Line(archive, node, dotted)
        new = line.method("__new__")
        if new is not None and not (new[0].args.vararg and new[0].args.kwarg and len(new[0].args.args) == 1):
            return _Reading(archive, new[0], line.classes[new[1]][1], line, new[1], depth).read(bound=True)
        return _constructor(archive, line, 0, depth)
    if not isinstance(node, ast.FunctionDef):
        return None
    static = any(isinstance(item, ast.Name) and item.id == "staticmethod" for item in node.decorator_list)
    found = _Reading(archive, node, dotted, None, 0, depth).read(bound=method and not static)
    wrapped = {"deprecated_alias", "wraps", "tf_decorator"} & set(_decorators(node))
    return found._replace(any_other=True) if wrapped else found


def _constructor(archive: Any, line: _Line, start: int, depth: int) -> Taken | None:
    found = line.method("__init__", start)
    if found is None:
        plain = not line.unknown and not any(node.decorator_list and _made(node) for node, _ in line.classes)
        return Taken() if plain else None
    init, place = found
    taken = _Reading(archive, init, line.classes[place][1], line, place, depth).read(bound=True)
    decorators = set(_decorators(init))
    if "allow_initializer_layout" in decorators:
        layouts = {
            name.removesuffix("_initializer") + "_layout"
            for name in taken.names
            if name.endswith("_initializer")
        }
        taken = taken._replace(inherited=taken.inherited | layouts)
    if "inject_mesh" in decorators:
        taken = taken._replace(inherited=taken.inherited | {"mesh"})
    return taken._replace(any_other=True) if decorators - KEEPS else taken


def _made(node: ast.ClassDef) -> bool:
    """Tell whether a decorator gives a class its constructor."""
    return bool({"dataclass", "define", "s", "attrs"} & set(_decorators(node)))


def _decorators(node: Any) -> Iterator[str]:
    for item in node.decorator_list:
        func = item.func if isinstance(item, ast.Call) else item
        yield func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


class _Reading:
    """One function, whose dictionary of keywords is followed."""

    def __init__(
        self, archive: Any, node: ast.FunctionDef, dotted: str, line: _Line | None, place: int, depth: int
    ) -> None:
        self.archive, self.node, self.dotted = archive, node, dotted
        self.line, self.place, self.depth = line, place, depth
        self.parents = {child: item for item in ast.walk(node) for child in ast.iter_child_nodes(item)}
        self.names: set[str] = set()
        self.refused: set[str] = set()
        self.ignored: set[str] = set()
        self.order: tuple[str, ...] = ()
        self.closed = self.open = False

    def read(self, *, bound: bool) -> Taken:
        """Return what the function takes."""
        spec = self.node.args
        order = tuple(item.arg for item in (*spec.posonlyargs, *spec.args))[1 if bound else 0 :]
        own = frozenset((*order, *(item.arg for item in spec.kwonlyargs)))
        any_other = False
        if spec.kwarg is not None:
            self.follow(spec.kwarg.arg)
            any_other = self.open or not self.closed
        return Taken(
            (*order, *(item for item in self.order if item not in own)),
            own,
            frozenset(self.names - self.refused - own),
            frozenset(self.ignored),
            any_other,
        )

    def follow(self, name: str) -> None:
        """Look where a dictionary of keywords goes."""
        for item in ast.walk(self.node):
            if isinstance(item, ast.Name) and item.id == name:
                self._use(item)

    def _use(self, item: ast.Name) -> None:
        above = self.parents[item]
        if self._within(item, ast.Raise) is not None:
            return
        if isinstance(above, ast.keyword):
            call = self.parents[above]
            if isinstance(call, ast.Call):
                self._passed(call)
        elif isinstance(above, ast.Attribute) and isinstance(self.parents[above], ast.Call):
            self._asked(above, self.parents[above])
        elif isinstance(above, ast.Subscript) and above.value is item:
            if isinstance(above.ctx, ast.Load):
                self._named(above.slice)
        elif isinstance(above, ast.Compare):
            self._compared(above)
        elif isinstance(above, ast.Call):
            self._handed(above, item)
            self._less(above)
        elif isinstance(above, ast.For):
            self._each(above)
        elif isinstance(above, (ast.If, ast.UnaryOp, ast.BoolOp, ast.IfExp)):
            self._tested(above)
        elif not isinstance(above, (ast.FormattedValue, ast.BinOp, ast.Tuple)):
            self.open = True

    def _within(self, item: ast.AST, kind: Any) -> Any:
        while item in self.parents:
            item = self.parents[item]
            if isinstance(item, kind):
                return item
        return None

    def _named(self, expr: ast.AST) -> str | None:
        if isinstance(expr, ast.Constant) and isinstance(expr.value, str):
            self.names.add(expr.value)
            return expr.value
        return None

    def _asked(self, attribute: ast.Attribute, call: Any) -> None:
        if attribute.attr in ("pop", "get", "setdefault") and call.args:
            name = self._named(call.args[0])
            if name is not None and attribute.attr == "pop" and self._forgotten(call):
                self.ignored.add(name)
        elif attribute.attr in ("keys", "items"):
            loop = self.parents[call]
            if isinstance(loop, ast.For):
                self._each(loop)
            elif isinstance(loop, ast.comprehension):
                self.open = True
            elif isinstance(loop, ast.Call):
                self._less(loop)
        elif attribute.attr not in ("update", "values"):
            self.open = True

    def _forgotten(self, call: ast.Call) -> bool:
        """Tell whether what is taken out of the dictionary is at most warned of."""
        above = self.parents[call]
        if isinstance(above, ast.Expr):
            return True
        if isinstance(above, ast.Assign):
            target = above.targets[0]
            if not isinstance(target, ast.Name):
                return False
            uses = [
                item
                for item in ast.walk(self.node)
                if isinstance(item, ast.Name) and item.id == target.id and isinstance(item.ctx, ast.Load)
            ]
            return bool(uses) and all(self._only_warns(item) for item in uses)
        return self._only_warns(call)

    def _only_warns(self, item: ast.AST) -> bool:
        while not isinstance(item, ast.stmt):
            below, item = item, self.parents[item]
            if isinstance(item, ast.If):
                return (
                    item.test is below
                    and not item.orelse
                    and all(
                        isinstance(line, ast.Expr)
                        and isinstance(line.value, ast.Call)
                        and getattr(line.value.func, "attr", getattr(line.value.func, "id", "")) in WARNS
                        for line in item.body
                    )
                )
        return False

    def _compared(self, compare: ast.Compare) -> None:
        if isinstance(compare.ops[0], (ast.In, ast.NotIn)):
            name = self._named(compare.left)
            branch = self.parents[compare]
            refuses = (
                isinstance(branch, ast.If)
                and isinstance(compare.ops[0], ast.In)
                and isinstance(branch.body[0], ast.Raise)
            )
            if name is not None and refuses:
                self.refused.add(name)
        else:
            self._tested(compare)

    def _tested(self, item: Any) -> None:
        branch = item if isinstance(item, (ast.If, ast.IfExp)) else self._within(item, (ast.If, ast.IfExp))
        if isinstance(branch, ast.If) and any(isinstance(line, ast.Raise) for line in branch.body):
            self.closed = True

    def _each(self, loop: ast.For) -> None:
        target = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else loop.target
        if not isinstance(target, ast.Name):
            self.open = True
            return
        last: Any = None
        for branch in ast.walk(loop):
            if isinstance(branch, ast.Raise):
                self.closed = True
            if not isinstance(branch, ast.If) or not isinstance(branch.test, ast.Compare):
                continue
            test = branch.test
            if not (isinstance(test.left, ast.Name) and test.left.id == target.id):
                continue
            raises = any(isinstance(line, ast.Raise) for line in branch.body)
            words = self._words(test.comparators[0])
            last = words
            if words is None:
                self.open = True
            elif isinstance(test.ops[0], (ast.In, ast.Eq)) and raises:
                self.refused |= words
            else:
                self.names |= words
        if last is None and not self.closed:
            self.open = True

    def _less(self, call: ast.Call) -> None:
        """Note what is taken from `set(kwargs)` before it is looked at what is left."""
        above = self.parents[call]
        if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Sub) and above.left is call:
            words = self._words(above.right)
            self.names |= words or set()
            self.closed = True
            self.open = self.open or words is None

    def _words(self, expr: ast.AST) -> set[str] | None:
        """Return the texts of a collection that is written in the function or its module."""
        if isinstance(expr, ast.Constant):
            return {expr.value} if isinstance(expr.value, str) else None
        if isinstance(expr, (ast.Set, ast.List, ast.Tuple)):
            texts = {item.value for item in expr.elts if isinstance(item, ast.Constant)}
            return texts if len(texts) == len(expr.elts) else None
        if isinstance(expr, ast.Call) and len(expr.args) == 1:
            return self._words(expr.args[0])
        if isinstance(expr, ast.BinOp):
            left, right = self._words(expr.left), self._words(expr.right)
            return None if left is None or right is None else left | right
        if isinstance(expr, ast.Name):
            module = self.archive.module(self.dotted)
            for tree in (self.node, *(module[:1] if module is not None else ())):
                bound = [
                    item.value
                    for item in ast.walk(tree)
                    if isinstance(item, ast.Assign)
                    and any(isinstance(target, ast.Name) and target.id == expr.id for target in item.targets)
                ]
                if len(bound) == 1:
                    return self._words(bound[0])
        return None

    def _handed(self, call: ast.Call, item: ast.Name) -> None:
        func = call.func
        name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        if name == "validate_kwargs" and len(call.args) > 1 and call.args[0] is item:
            words = self._words(call.args[1])
            self.closed = True
            self.open = self.open or words is None
            self.names |= words or set()
        elif (
            self.line is not None
            and isinstance(func, ast.Attribute)
            and isinstance(func.value, ast.Name)
            and func.value.id == "self"
            and item in call.args
        ):
            found = self.line.method(func.attr)
            if found is None or self.depth > DEPTH:
                self.open = True
                return
            method, place = found
            inner = _Reading(
                self.archive, method, self.line.classes[place][1], self.line, place, self.depth + 1
            )
            parameters = [entry.arg for entry in method.args.args][1:]
            inner.follow(parameters[call.args.index(item)])
            self.names |= inner.names
            self.refused |= inner.refused
            self.ignored |= inner.ignored
            self.open = self.open or inner.open
            self.closed = self.closed or inner.closed
        elif name not in LOOKED_AT:
            self.open = True

    def _passed(self, call: ast.Call) -> None:
        """Note what another callable takes that gets the keywords."""
        target, skipped = self._target(call)
        if target is None:
            self.open = True
            return
        given = {item.arg for item in call.keywords if item.arg is not None}
        starred = False
        count = 0
        for item in call.args:
            starred = starred or isinstance(item, ast.Starred)
            count += not starred
        given |= set(target.order[: max(0, count - skipped)])
        self.names |= target.names - given
        self.ignored |= target.ignored - given
        if starred:
            self.order = tuple(name for name in target.order if name not in given)
        self.open = self.open or target.any_other
        self.closed = True

    def _target(self, call: ast.Call) -> tuple[Taken | None, int]:
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr == "__init__":
            value = func.value
            if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "super":
                if self.line is None:
                    return None, 0
                return _constructor(self.archive, self.line, self.place + 1, self.depth + 1), 0
            found = self._local(value)
            return (signature(self.archive, *found, depth=self.depth + 1) if found else None), 1
        found = self._local(func)
        return (signature(self.archive, *found, depth=self.depth + 1) if found else None), 0

    def _local(self, expr: ast.expr) -> tuple[Any, str] | None:
        """Return the definition of a name, be it imported in the function itself."""
        root = expr.value if isinstance(expr, ast.Attribute) else expr
        if not isinstance(root, ast.Name):
            return None
        for item in ast.walk(self.node):
            if isinstance(item, ast.ImportFrom) and not item.level:
                for alias in item.names:
                    if (alias.asname or alias.name) == root.id:
                        if root is expr:
                            found: tuple[Any, str] | None = self.archive.definition(
                                item.module or "", alias.name
                            )
                            return found
                        return self.archive.definition(f"{item.module}.{alias.name}", expr.attr)  # type: ignore[attr-defined,no-any-return]
        answer: tuple[Any, str] | None = self.archive.dotted_definition(self.dotted, expr)
        return answer
