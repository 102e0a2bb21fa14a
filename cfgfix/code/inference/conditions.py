"""Does a guard hold under a config? Three answers: yes, no, not known.

A guard is followed through local names, `getattr` and `.get` with their defaults, attributes set in a class,
parameters whose callers agree, and the config's own keys and class defaults. What an exception handler assigns
counts apart: a place that is only reached after it is a fallback, not the way this config takes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cfgfix.code.inference.guards import tests_before
from cfgfix.code.inference.three_values import (
    SAFE_FUNCTIONS,
    UNKNOWN,
    calculated,
    compared,
    is_instance,
    is_same,
    truth,
)
from cfgfix.code.model.expressions import dotted
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Boolean,
    Call,
    Collection,
    Compare,
    Conditional,
    Expr,
    Literal,
    Name,
    Place,
    Subscript,
    Unary,
)
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.scanning import NEEDLE_CONFIG
from cfgfix.code.model.summary import Block, Event, Scope
from cfgfix.core.findings import State

CONFIG_NAME = re.compile(
    r"(?:^|_)(?:config|configs|cfg|cfgs|conf|hparams|hps|hyperparams|hp|args|flags|params|opts|opt|settings|options|c)$",
    re.IGNORECASE,
)
"""Names that hold a run's settings, by their last word."""
Lookup = Callable[[tuple[str, ...]], Any]
"""A config: the value of the key whose path ends so, or `UNKNOWN` where there is none or several that differ."""
Given = Mapping[tuple[int, str], Any]
"""Known values of parameters: by identity of the function's scope and name of the parameter."""
MAX_DEPTH = 24


def config_path(expr: Expr) -> tuple[str, ...] | None:
    """Return the key path that an expression reads from a settings object, or None.

    It is a tuple such as `("data", "batch_size")`. `self.config.data.batch_size`, `cfg["data"]["batch_size"]`,
    `args.batch_size`, `cfg.get("data").x` count.
    """
    parts: list[str] = []
    while True:
        if isinstance(expr, Attribute):
            if parts and CONFIG_NAME.search(expr.attribute):
                return tuple(reversed(parts))
            parts.append(expr.attribute)
            expr = expr.base
        elif (
            isinstance(expr, Subscript)
            and isinstance(expr.index, Literal)
            and isinstance(expr.index.value, str)
        ):
            parts.append(expr.index.value)
            expr = expr.base
        elif isinstance(expr, Call):
            call = expr
            func = call.func
            if (
                isinstance(func, Attribute)
                and func.attribute == "get"
                and call.args
                and isinstance(call.args[0], Literal)
            ):
                key = call.args[0].value
                if not isinstance(key, str):
                    return None
                parts.append(key)
                expr = func.base
            elif (
                isinstance(func, Name)
                and func.name == "getattr"
                and len(call.args) >= 2
                and isinstance(call.args[1], Literal)
            ):
                key = call.args[1].value
                if not isinstance(key, str):
                    return None
                parts.append(key)
                expr = call.args[0]
            else:
                return None
        elif isinstance(expr, Name):
            return tuple(reversed(parts)) if parts and CONFIG_NAME.search(expr.name) else None
        else:
            return None


class Conditions:
    """Evaluates guards of a program under one config.

    Args:
        program: The linked program.
        lookup: The config; None for no config, which leaves every key unknown.
    """

    def __init__(self, program: Program, lookup: Lookup | None) -> None:
        self.program = program
        self._lookup = lookup
        self._defaults: dict[str, list[tuple[str, Any]]] | None = None
        self._active: set[tuple[int, str]] = set()
        self._known: dict[tuple[int, int], tuple[Any, bool]] = {}
        self._shared: dict[tuple[int, int], tuple[Any, bool]] = _guard_cache(program)
        """What is known of blocks whatever the config is."""
        self._asked = False
        """Whether the config was asked for a key."""
        self._given: Given = {}
        self._traced: Scope | None = None
        """The function that is asked about as one that TensorFlow traces; what it asks about eager mode is then known."""
        self._around_use: frozenset[int] = frozenset()
        """The blocks around the guard that is asked about, by identity: what they hold for a name's binding, they hold for its use."""

    def excluded(
        self, scope: Scope, block: int, place: Place | None, given: Given, *, traced: bool = False
    ) -> bool:
        """Tell whether a place is not reached where some parameters have known values.

        Args:
            scope: The scope of the place.
            block: Its block.
            place: Its span, so that `a and here()` in one expression counts; None leaves that out.
            given: The values, by identity of the function's scope and name of the parameter.
            traced: Whether TensorFlow traces the function, so that `tf.executing_eagerly()` in it is false.
        """
        self._given = given
        self._traced = scope if traced else None
        try:
            if traced and self._fails_before(scope, block, place):
                return True
            for here, number in self._places_around(scope, block):
                item = here.blocks[number]
                if item.kind not in ("if", "while") or item.test is None:
                    continue
                holds = self._truth_of_test(here, item)
                if holds is not UNKNOWN and holds is not item.branch:
                    return True
            for test, wanted in tests_before(scope, place) if place is not None else ():
                holds = truth(self.value(test, scope, before=place.line if place is not None else 0))
                if holds is not UNKNOWN and holds is not wanted:
                    return True
            return False
        finally:
            self._given = {}
            self._traced = None

    def _fails_before(self, scope: Scope, block: int, place: Place | None) -> bool:
        """Tell whether a false assertion in a block around a place stands before it."""
        if place is None:
            return False
        around = set(scope.block_numbers(block))
        return any(
            event.kind == "assert"
            and event.value is not None
            and event.block in around
            and event.end_line < place.line
            and truth(self.value(event.value, scope, before=event.line)) is False
            for event in scope.events()
        )

    def state(self, guards: Iterable[tuple[Scope, int]]) -> tuple[State, str]:
        """Return the state of a place under its guards, and the deciding guard as text.

        Args:
            guards: Scope and block of each guard; the blocks around it and around the scope's definition count too.
        """
        fallback = ""
        for scope, block in guards:
            for here, number in self._places_around(scope, block):
                holds, after_error = self._guard_of_block(here, number)
                if holds is False:
                    if after_error:
                        fallback = fallback or self._condition_text(here, number)
                    else:
                        return State.DORMANT, self._condition_text(here, number)
                elif after_error:
                    fallback = fallback or self._condition_text(here, number)
        return (State.FALLBACK, fallback) if fallback else (State.ACTIVE, "")

    def _places_around(self, scope: Scope, block: int) -> Iterable[tuple[Scope, int]]:
        here: Scope | None = scope
        while here is not None:
            while block >= 0:
                yield here, block
                block = here.blocks[block].parent
            block = here.block
            here = self.program.outer(here)

    def _condition_text(self, scope: Scope, number: int) -> str:
        from cfgfix.code.model.expressions import text

        block = scope.blocks[number]
        if block.kind == "except":
            return f"except at line {block.line}"
        shown = text(block.test)
        if block.kind == "while":
            return f"while {shown}"
        return shown if block.branch else f"not ({shown})"

    def _guard_of_block(self, scope: Scope, number: int) -> tuple[Any, bool]:
        """Return whether a block's guard holds, and whether only an exception leads to it."""
        key = (id(scope), number)
        known = self._known.get(key) or self._shared.get(key)
        if known is not None:
            return known
        self._asked = False
        block = scope.blocks[number]
        result: tuple[Any, bool] = (True, False)
        if block.kind == "except":
            result = (UNKNOWN, not self._is_import_error(block.test))
        elif block.kind in ("if", "while") and block.test is not None:
            value = self._truth_of_test(scope, block)
            holds = value if block.branch or value is UNKNOWN else not value
            after_error = False
            if holds is False:
                other = self._truth_of_test(scope, block, after_error=True)
                other = other if block.branch or other is UNKNOWN else not other
                after_error = other is not False
            result = (holds, after_error)
        (self._known if self._asked else self._shared)[key] = result
        return result

    def _truth_of_test(self, scope: Scope, block: Block, *, after_error: bool = False) -> Any:
        """Return the truth of a block's test, taking the guards around the block to hold."""
        assert block.test is not None
        outer = self._around_use
        self._around_use = frozenset(map(id, scope.block_chain(block.parent)))
        try:
            return truth(self.value(block.test, scope, before=block.line, after_error=after_error))
        finally:
            self._around_use = outer

    def _is_import_error(self, test: Expr | None) -> bool:
        """Tell whether a handler catches only import errors.

        Which side of its `try` runs then depends on the installed packages.
        """
        if test is None:
            return False
        names = test.items if isinstance(test, Collection) else (test,)
        return all(dotted(item) in ("ImportError", "ModuleNotFoundError") for item in names)

    # Values

    def value(
        self, expr: Expr, scope: Scope, *, before: int, after_error: bool = False, depth: int = 0
    ) -> Any:
        """Return the value of an expression just before a line, or `UNKNOWN`.

        `after_error` counts what exception handlers assign.
        """
        if depth > MAX_DEPTH:
            return UNKNOWN
        if isinstance(expr, Literal):
            return expr.value

        def inner(part: Expr) -> Any:
            return self.value(part, scope, before=before, after_error=after_error, depth=depth + 1)

        if isinstance(expr, Name):
            return self._name_value(expr.name, scope, before, after_error, depth)
        if isinstance(expr, (Attribute, Subscript)):
            return self._value_read(expr, scope, after_error, depth)
        if isinstance(expr, Call):
            return self._call(expr, scope, inner)
        if isinstance(expr, Unary):
            value = inner(expr.operand)
            if expr.operator == "not":
                found = truth(value)
                return UNKNOWN if found is UNKNOWN else not found
            if expr.operator == "-" and isinstance(value, (int, float)):
                return -value
            return UNKNOWN
        if isinstance(expr, Boolean):
            return self._boolean_value(expr, inner)
        if isinstance(expr, Compare):
            return self._truth_of_comparison(expr, inner)
        if isinstance(expr, Conditional):
            test = truth(inner(expr.test))
            if test is UNKNOWN:
                then, other = inner(expr.then), inner(expr.otherwise)
                return then if then is not UNKNOWN and is_same(then, other) else UNKNOWN
            return inner(expr.then if test else expr.otherwise)
        if isinstance(expr, Binary):
            return calculated(expr.operator, inner(expr.left), inner(expr.right))
        if isinstance(expr, Collection):
            values = [inner(item) for item in expr.items]
            return UNKNOWN if UNKNOWN in values else tuple(values)
        return UNKNOWN

    def _boolean_value(self, expr: Boolean, inner: Callable[[Expr], Any]) -> Any:
        stop = expr.operator == "or"
        known = True
        value: Any = UNKNOWN
        for item in expr.operands:
            value = inner(item)
            found = truth(value)
            if found is UNKNOWN:
                known = False
            elif found is stop:
                return value if known else stop
        return value if known else UNKNOWN

    def _truth_of_comparison(self, expr: Compare, inner: Callable[[Expr], Any]) -> Any:
        left = inner(expr.left)
        result: Any = True
        for item in expr.rights:
            right = inner(item.right)
            if left is UNKNOWN or right is UNKNOWN:
                result = UNKNOWN
            else:
                holds = compared(item.operator, left, right)
                if holds is False:
                    return False
                if holds is UNKNOWN:
                    result = UNKNOWN
            left = right
        return result

    def _call(
        self,
        call: Call,
        scope: Scope,
        inner: Callable[[Expr], Any],
    ) -> Any:
        path = config_path(call)
        if path is not None:
            value = self._key_value(path)
            if value is not UNKNOWN:
                return value
            default = call.args[-1] if len(call.args) >= (2 if call.method == "get" else 3) else None
            if default is not None and self._lookup is not None and self._is_unknown_key(path):
                return inner(default)
            return UNKNOWN
        if scope is self._traced:
            mode = asks_mode(call.func)
            if mode is not None and (self.program.static_name(call.func, scope) or "").startswith(
                "tensorflow."
            ):
                return mode
        name = call.func.name if isinstance(call.func, Name) else None
        if name == "isinstance" and len(call.args) == 2 and not call.keywords:
            return is_instance(inner(call.args[0]), call.args[1])
        if (
            name in ("bool", "int", "float", "str", "len", "abs", "min", "max")
            and call.args
            and not call.keywords
        ):
            values = [inner(item) for item in call.args]
            if UNKNOWN in values:
                return UNKNOWN
            try:
                return SAFE_FUNCTIONS[name](*values)
            except (TypeError, ValueError, OverflowError):
                return UNKNOWN
        return UNKNOWN

    def _value_read(self, expr: Expr, scope: Scope, after_error: bool, depth: int) -> Any:
        path = config_path(expr)
        if path is not None:
            value = self._key_value(path)
            if value is not UNKNOWN:
                return value
        if scope is self._traced and isinstance(expr, Attribute) and expr.attribute == RUN_EAGERLY:
            return False
        if (
            isinstance(expr, Attribute)
            and isinstance(expr.base, Name)
            and scope.params
            and expr.base.name == scope.params[0].name
        ):
            owner = self.program.owner(scope)
            if owner is not None and not self._given and self._traced is None:
                return self._attribute_value(owner, expr.attribute, after_error, depth)
        return UNKNOWN

    def _attribute_value(self, owner: Scope, name: str, after_error: bool, depth: int) -> Any:
        """Return the value on which all assignments of a class to an attribute agree."""
        key = (id(owner), name)
        if key in self._active:
            return UNKNOWN
        self._active.add(key)
        try:
            values = []
            for scope in self.program.bases(owner).classes:
                for number in range(scope.number + 1, len(scope.module.summary.scopes)):
                    method = scope.module.summary.scopes[number]
                    if method.parent != scope.number or method.kind != "function" or not method.params:
                        if method.line > scope.end_line:
                            break
                        continue
                    own = method.params[0].name
                    for event in method.events():
                        for target in event.targets:
                            if (
                                isinstance(target, Attribute)
                                and target.attribute == name
                                and isinstance(target.base, Name)
                                and target.base.name == own
                            ):
                                if event.value is None or event.kind not in ("assign", "annotate"):
                                    return UNKNOWN
                                if self._in_handler(method, event.block) and not after_error:
                                    continue
                                values.append(
                                    self.value(
                                        event.value,
                                        method,
                                        before=event.line,
                                        after_error=after_error,
                                        depth=depth + 1,
                                    )
                                )
            if not values or any(value is UNKNOWN or not is_same(value, values[0]) for value in values):
                return UNKNOWN
            return values[0]
        finally:
            self._active.discard(key)

    def _name_value(self, name: str, scope: Scope, before: int, after_error: bool, depth: int) -> Any:
        here: Scope | None = scope
        line = before
        while here is not None:
            bound = name in here.names or name in here.imports
            if bound and name not in here.outer and (here.kind != "class" or here is scope):
                return self._local_value(name, here, line, after_error, depth)
            # A function's body runs after the names around it are set.
            line = 1 << 30
            here = self.program.outer(here)
        return UNKNOWN

    def _local_value(self, name: str, scope: Scope, before: int, after_error: bool, depth: int) -> Any:
        key = (id(scope), name)
        if key in self._active:
            return UNKNOWN
        if scope.kind == "module" and any(name in inner.outer for inner in scope.module.summary.scopes):
            # A function sets it too (`global`), at a time of its own.
            return UNKNOWN
        self._active.add(key)
        try:
            value: Any = UNKNOWN
            if any(item.name == name for item in scope.params):
                value = self._parameter_value(name, scope, after_error, depth)
            for event in scope.binding(name):
                if event.line >= before:
                    if self._loops_back(scope, event, before):
                        return UNKNOWN
                    continue
                value = self._value_after(event, name, scope, value, after_error, depth)
            return value
        finally:
            self._active.discard(key)

    def _value_after(
        self, event: Event, name: str, scope: Scope, value: Any, after_error: bool, depth: int
    ) -> Any:
        """Return a name's value after a statement, given its value before."""
        handler = self._in_handler(scope, event.block)
        if handler and not after_error:
            return value
        if event.kind in ("assign", "annotate") and event.value is not None:
            direct = any(isinstance(target, Name) and target.name == name for target in event.targets)
            new = (
                self.value(event.value, scope, before=event.line, after_error=after_error, depth=depth + 1)
                if direct
                else UNKNOWN
            )
        elif event.kind == "import":
            new = self._imported_value(event, name, scope, after_error, depth)
        else:
            return UNKNOWN
        for block in scope.block_chain(event.block):
            if id(block) in self._around_use:
                break
            if block.kind in ("for", "while", "match", "comprehension"):
                return new if new is not UNKNOWN and is_same(new, value) else UNKNOWN
            if block.kind == "if" and block.test is not None:
                holds = truth(
                    self.value(block.test, scope, before=block.line, after_error=after_error, depth=depth + 1)
                )
                if holds is UNKNOWN:
                    return (
                        new
                        if new is not UNKNOWN and value is not UNKNOWN and is_same(new, value)
                        else UNKNOWN
                    )
                if holds is not block.branch:
                    return value
        if handler and not (new is not UNKNOWN and is_same(new, value)):
            # After an exception it may be either; which of them counts is for the caller to ask.
            return UNKNOWN
        return new

    def _imported_value(self, event: Event, name: str, scope: Scope, after_error: bool, depth: int) -> Any:
        """Return the value of a name imported from another file of the project."""
        source = dict(event.imports).get(name, "")
        package, _, last = source.rpartition(".")
        module = self.program.module(package, scope.module) if package else None
        if module is None or module.scope is None or last not in module.scope.names or depth > MAX_DEPTH:
            return UNKNOWN
        return self._local_value(last, module.scope, 1 << 30, after_error, depth + 1)

    def _loops_back(self, scope: Scope, event: Event, before: int) -> bool:
        """Tell whether a later assignment reaches an earlier use by a loop around both."""
        return any(
            block.kind in ("for", "while") and block.line <= before
            for block in scope.block_chain(event.block)
        )

    def _in_handler(self, scope: Scope, block: int) -> bool:
        return any(
            item.kind == "except" and not self._is_import_error(item.test)
            for item in scope.block_chain(block)
        )

    def _parameter_value(self, name: str, scope: Scope, after_error: bool, depth: int) -> Any:
        """Return the value that all known callers give a parameter.

        `UNKNOWN` where no caller is known or the values differ.
        """
        if self._given or self._traced is not None:
            # What one way gives is asked for, not what all callers agree on.
            return self._given.get((id(scope), name), UNKNOWN)
        if self.program.flow is None:
            return UNKNOWN
        sites = self.program.flow.callers(scope)
        if not sites or len(sites) > 50:
            return UNKNOWN
        position = next(i for i, item in enumerate(scope.params) if item.name == name)
        default = scope.params[position].default
        values = []
        for site in sites:
            call = site.call
            if call.opaque:
                return UNKNOWN
            bound = any(target.scope is scope and target.receiver is not None for target in site.targets)
            expr = call.argument(position - 1 if bound else position, name)
            if expr is not None:
                values.append(
                    self.value(expr, site.scope, before=call.line, after_error=after_error, depth=depth + 1)
                )
            elif default is not None and isinstance(default, Literal):
                values.append(default.value)
            else:
                return UNKNOWN
        if any(value is UNKNOWN or not is_same(value, values[0]) for value in values):
            return UNKNOWN
        return values[0]

    # The config

    def _key_value(self, path: tuple[str, ...]) -> Any:
        self._asked = True
        if self._lookup is None:
            return UNKNOWN
        value = self._lookup(path)
        if value is not UNKNOWN:
            return value
        return self._class_default(path)

    def _is_unknown_key(self, path: tuple[str, ...]) -> bool:
        """Tell whether neither the config nor a config class has a key.

        A default in the code then decides.
        """
        assert self._lookup is not None
        return self._lookup(path) is UNKNOWN and not self._fields_of_name(path[-1])

    def _class_default(self, path: tuple[str, ...]) -> Any:
        """Return the default of a field on which all config classes with it agree.

        Of several classes those named like the key's section count first. `UNKNOWN` where the classes do not agree.
        """
        found = self._fields_of_name(path[-1])
        if len(path) > 1 and len(found) > 1:
            section = path[-2].replace("_", "").lower()
            near = [item for item in found if item[0].lower().startswith(section)]
            found = near or found
        values = [value for _, value in found]
        if values and all(value is not UNKNOWN and is_same(value, values[0]) for value in values):
            return values[0]
        return UNKNOWN

    def _fields_of_name(self, name: str) -> list[tuple[str, Any]]:
        """Return the `(class, default)` pairs of a field of that name in all config classes."""
        return _fields_in_program(self.program, name)


@once
def _guard_cache(program: Program) -> dict[tuple[int, int], tuple[Any, bool]]:
    """Return the cache of guard results that no config changes, by scope and block."""
    del program
    return {}


@once
def _fields_in_program(program: Program, name: str) -> list[tuple[str, Any]]:
    """Return the `(class, default)` pairs of a field of a name in all config classes."""
    # `rate: float`, or with what lines up the colons of several fields between them.
    written = (f"{name}:".encode(), f"{name} ".encode(), f"{name}\t".encode())
    return [
        pair
        for module in program.all_modules(NEEDLE_CONFIG, written)
        for pair in _fields_of(program, module).get(name, ())
    ]


@once
def _fields_of(program: Program, module: Module) -> dict[str, list[tuple[str, Any]]]:
    """Return by field name the `(class, default)` pairs of a module's config classes."""
    del program
    fields: dict[str, list[tuple[str, Any]]] = {}
    for scope in module.summary.scopes:
        if scope.kind != "class" or not _is_config_class(scope):
            continue
        for event in scope.body:
            if event.kind == "annotate" and isinstance(event.targets[0], Name):
                given = event.value
                value = given.value if given is not None and isinstance(given, Literal) else UNKNOWN
                fields.setdefault(event.targets[0].name, []).append((scope.name, value))
    return fields


_WHILE_TRACING = {"executing_eagerly": False, "functions_run_eagerly": False, "inside_function": True}
"""What functions of TensorFlow that tell the mode return while a function is traced."""
RUN_EAGERLY = "run_eagerly"
"""The attribute of a Keras model that tells whether its steps are compiled."""


def asks_mode(func: Expr) -> bool | None:
    """Return what a test for eager or graph mode gives while TensorFlow traces.

    Args:
        func: The callee, such as `tf.executing_eagerly`; its last name decides.

    Returns:
        None for any other callee.
    """
    return (
        _WHILE_TRACING.get(func.attribute if isinstance(func, Attribute) else func.name)
        if isinstance(func, (Attribute, Name))
        else None
    )


def _is_config_class(scope: Scope) -> bool:
    for decorator in scope.decorators:
        func = decorator.func if isinstance(decorator, Call) else decorator
        if (dotted(func) or "").rsplit(".", 1)[-1] in ("dataclass", "define", "frozen", "attrs", "s"):
            return True
    return any(
        (dotted(base) or "").rsplit(".", 1)[-1]
        in ("BaseModel", "BaseSettings", "NamedTuple", "BaseConfig", "Config")
        for base in scope.bases
    )
