"""Python arguments that change with each call: numbers and growing lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cfgfix.code.checks.bindings import bound_once
from cfgfix.code.checks.common import few_turns, in_tests, tensorflow_alias
from cfgfix.code.checks.counters import counter_of
from cfgfix.code.checks.handed_on import values_of
from cfgfix.code.inference.conditions import Conditions
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import ELEMENT, GRAPH, hot_paths, inside
from cfgfix.code.model.expressions import constant, dotted, is_name, is_same_expression, place_of, text, walk
from cfgfix.code.model.hit import Repair, Rewrite, at, hit_at
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Call,
    Collection,
    Compare,
    Comprehension,
    Expr,
    FString,
    Literal,
    Name,
    Subscript,
    Unary,
)
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Constant, Function, Site
from cfgfix.rules.hit import Hit

FEW_TRACES = 5
"""So many values of a number are traced without a word: TensorFlow warns when 5 calls in a row are traced anew (TensorFlow 2.21,
`tensorflow/python/eager/polymorphic_function/polymorphic_function.py`, `FREQUENT_TRACING_WARNING_THRESHOLD`)."""
COUNTER = "the loop's counter, a Python number"
_COMPUTED = "computed from what the loop counts, a Python number"
_ATTRIBUTE = "counted by each turn, a Python number"
_DRAWN = "drawn anew in each turn, a Python number"
_READ = "read from a tensor in each turn, a Python number"
_LONGER = "a list whose length differs from turn to turn"
_HOLDS = "a list that holds a Python number which differs from turn to turn"
_TEXT = "a text that differs from turn to turn"

_OPERATORS = frozenset({"+", "-", "*", "/", "//", "**"})
_PLAIN = frozenset({"min", "max", "float", "int", "round", "abs", "pow"})
_DRAWS = frozenset(
    {"random", "uniform", "randint", "randrange", "gauss", "normalvariate", "betavariate", "triangular"}
)
_SETTINGS = re.compile(
    r"(?:.*\.)?(?:cfg|config|conf|args|opt|opts|options|flags|hparams|hp|params|settings)", re.IGNORECASE
)
_DEPTH = 14
_MOST_RETURNS = 4


def scalar_argument(program: Program) -> Iterator[Hit]:
    """Find Python numbers that change with each call of a compiled function.

    Each value is traced anew.
    """
    hot = hot_paths(program)
    for site in flow_of(program).compiled:
        if hot.reach(site.scope, GRAPH, ELEMENT) is not None:
            continue
        compiled = [target for target in site.targets if target.compiled is not None]
        if len(compiled) != len(site.targets) or _signature_given(compiled):
            continue
        for expr in (*site.call.args, *(value for name, value in site.call.keywords if name != "training")):
            found = changing_argument(program, site.scope, site.call.block, expr)
            if found is not None:
                what, way = found
                yield hit_at(
                    site,
                    flow=() if way is None else (at(way, label="called in this loop"),),
                    values={
                        "value": text(expr),
                        "what": what,
                        "each": "length" if "list" in what else "value",
                        "function": compiled[0].scope.name,
                    },
                    **_as_tensor(site, compiled, expr, counted=what == COUNTER),
                )
                break


def _as_tensor(site: Site, compiled: list[Function], expr: Expr, *, counted: bool) -> Repair:
    """Return the fix that passes a counter as a tensor, or why there is none.

    The function may use it only as the step of a summary, in `tf.cast`, or compared with an integer.
    """
    alias, place = tensorflow_alias(site.scope), place_of(expr, site.scope)
    if alias is None or place is None or not isinstance(expr, Name) or not counted:
        return {"no_fix": "what is computed from the counter may be no integer"}
    function = compiled[0]
    offset = int(function.receiver is not None) + function.partial
    parameter = next((name for name, value in site.call.keywords if value is expr), None)
    if parameter is None and expr in site.call.args:
        index = site.call.args.index(expr) + offset
        parameter = function.scope.params[index].name if index < len(function.scope.params) else None
    if parameter is None or len(compiled) != 1 or not _takes_tensor(function.scope, parameter):
        return {"no_fix": f"{function.scope.name} may need it as a Python number"}
    return {"rewrites": (Rewrite("replace", site.scope, place, f"{alias}.constant({expr.name})"),)}


def _takes_tensor(scope: Scope, name: str) -> bool:
    """Tell whether every use of a parameter works alike for a tensor of integers."""
    if scope.number in (item.parent for item in scope.module.summary.scopes):
        # A function inside may use it.
        return False
    uses = fine = 0
    for event in scope.events():
        for expr in (event.value, *event.targets, *event.managers):
            for part in walk(expr) if expr is not None else ():
                if is_name(part, name):
                    uses += 1
                elif isinstance(part, Call):
                    call = part
                    summary = ".summary." in (dotted(call.func) or "")
                    step = call.keyword("step") if summary else None
                    first = call.args[0] if call.method == "cast" and call.args else None
                    fine += sum(item is not None and is_name(item, name) for item in (step, first))
                elif isinstance(part, Compare) and len(part.rights) == 1:
                    sides = (part.left, part.rights[0].right)
                    fine += any(is_name(item, name) for item in sides) and any(
                        type(constant(item)) is int for item in sides
                    )
    return uses == fine


def _signature_given(functions: list[Function]) -> bool:
    return any(
        function.compiled is not None
        and (
            function.compiled.call.keyword("input_signature") is not None
            or function.compiled.call.opaque
            or len(function.compiled.call.args) > 1
        )
        for function in functions
    )


def changing_argument(
    program: Program, scope: Scope, block: int, expr: Expr
) -> tuple[str, Site | None] | None:
    """Return in words how an argument changes between calls, with a call, or None.

    The call is the caller's in a loop that passes the argument on, or None where the loop is in the scope itself.
    """
    found = _turns_around(program, scope, block).changing(expr)
    if found is not None:
        return found, None
    if not isinstance(expr, Name) or scope.kind != "function" or scope.binding(expr.name):
        return None
    position = next((number for number, item in enumerate(scope.params) if item.name == expr.name), None)
    if position is None:
        return None
    for caller in flow_of(program).callers(scope):
        if caller.call.opaque or in_tests(caller.scope):
            continue
        offset = int(any(target.receiver is not None for target in caller.targets))
        given = caller.call.argument(position - offset, expr.name)
        if given is not None:
            found = _turns_around(program, caller.scope, caller.call.block).changing(given)
            if found is not None:
                return found, caller
    return None


@once
def _turns_around(program: Program, scope: Scope, block: int) -> _LoopTurns:
    return _LoopTurns(program, scope, block)


class _LoopTurns:
    """The loops around a block, and the values that change in their turns.

    Args:
        program: The program.
        scope: The scope of the place.
        block: Its block.
    """

    def __init__(self, program: Program, scope: Scope, block: int) -> None:
        self.program = program
        self.scope = scope
        self.loops = [
            number
            for number in scope.block_numbers(block)
            if scope.blocks[number].kind in ("for", "while")
            and not few_turns(program, scope, number, FEW_TRACES - 1)
        ]
        self.block = block
        self.counters = self._loop_counters() if self.loops else {}

    def changing(self, expr: Expr) -> str | None:
        """Return in words how an expression changes between turns, or None."""
        if not self.loops:
            return None
        if isinstance(expr, (Collection, Comprehension)) or (
            isinstance(expr, Name) and expr.name not in self.counters
        ):
            found = self._list_in_words(expr)
            if found is not None:
                return found
        if isinstance(expr, FString):
            return _TEXT if any(self._number_in_words(part, _DEPTH) for part in expr.parts) else None
        found = self._number_in_words(expr, _DEPTH)
        return found or None

    def _is_in_loop(self, block: int) -> bool:
        return any(inside(self.scope, block, loop) for loop in self.loops)

    def _loop_counters(self) -> dict[str, str]:
        """Return the names that are counted in Python by the loops around the block."""
        scope = self.scope
        found: dict[str, str] = {}
        names: set[str] = set()
        for event in scope.events():
            if event.kind == "for" and event.bodies and event.bodies[0][0] in self.loops:
                name = counter_of(event)
                if name is not None:
                    found[name] = COUNTER
            if event.kind in ("augment", "assign") and self._is_in_loop(event.block):
                names |= {target.name for target in event.targets if isinstance(target, Name)}
        # What the loop's body binds again, as `i = tf.constant(i)` does, is no longer the counter.
        found = {
            name: what
            for name, what in found.items()
            if all(event.kind == "for" for event in scope.binding(name))
        }
        for name in names - found.keys():
            if self._steps(scope.binding(name), name):
                found[name] = COUNTER
        return found

    def _steps(self, bound: list[Event], name: str) -> bool:
        """Tell whether a name starts as a constant and is only raised, in a loop."""
        raised = False
        for event in bound:
            value = event.value
            if event.kind == "augment":
                if event.operator not in _OPERATORS or not self._is_constant(value):
                    return False
                raised = raised or self._is_in_loop(event.block)
            elif (
                event.kind == "assign"
                and value is not None
                and isinstance(value, Binary)
                and value.operator in _OPERATORS
            ):
                sides = (value.left, value.right)
                if not any(is_name(side, name) for side in sides) or not all(
                    is_name(side, name) or self._is_constant(side) for side in sides
                ):
                    return False
                raised = raised or self._is_in_loop(event.block)
            elif event.kind != "assign" or not self._is_constant(value):
                return False
        return raised

    def _is_constant(self, expr: Expr | None) -> bool:
        if expr is None:
            return False
        if isinstance(expr, Literal):
            return type(expr.value) in (int, float)
        if isinstance(expr, Unary):
            return self._is_constant(expr.operand)
        if isinstance(expr, (Name, Attribute, Subscript)):
            return self._is_setting(expr)
        if isinstance(expr, Binary):
            return expr.operator in _OPERATORS and all(map(self._is_constant, (expr.left, expr.right)))
        return False

    def _is_setting(self, expr: Expr) -> bool:
        """Tell whether an expression is a number from the code, a config or an option."""
        if isinstance(expr, Name):
            value = Conditions(self.program, None).value(
                expr, self.scope, before=self.scope.blocks[self.block].line
            )
            if type(value) in (int, float):
                return True
            bound = bound_once(self.scope, expr.name, self.block)
            return (
                bound is not None
                and bound[1] is self.scope
                and isinstance(bound[0], (Literal, Subscript, Attribute))
                and (isinstance(bound[0], Literal) or self._is_setting(bound[0]))
            )
        head = expr
        while isinstance(head, (Attribute, Subscript)):
            head = head.base
            name = dotted(head)
            if name is not None and _SETTINGS.fullmatch(name):
                return True
        return False

    def _number_in_words(self, expr: Expr, depth: int) -> str:
        """Return in words how a Python number changes, or empty text.

        Empty for a constant number and for anything that may be no number.
        """
        return self._kind(expr, depth) or ""

    def _kind(self, expr: Expr, depth: int) -> str | None:
        """Return in words how a Python number changes; empty for a constant one.

        None for anything that may be no Python number.
        """
        if depth < 0:
            return None
        if isinstance(expr, Literal):
            return "" if type(expr.value) in (int, float) else None
        if isinstance(expr, Unary):
            return self._kind(expr.operand, depth - 1) if expr.operator in ("-", "+") else None
        if isinstance(expr, Name):
            if expr.name in self.counters:
                return self.counters[expr.name]
            bound = [event for event in self.scope.binding(expr.name) if self._is_in_loop(event.block)]
            if bound:
                if len(bound) != 1 or bound[0].kind != "assign" or bound[0].value is None:
                    return None
                if not any(is_name(target, expr.name) for target in bound[0].targets):
                    return None
                found = self._kind(bound[0].value, depth - 1)
                return (
                    _COMPUTED
                    if found in (COUNTER, _ATTRIBUTE) and not isinstance(bound[0].value, Name)
                    else found
                )
            if self._is_setting(expr) or self._is_known_number(expr):
                return ""
            return self._kind_before(expr, depth)
        if isinstance(expr, Attribute) and self._own_counter(expr):
            return _ATTRIBUTE
        if isinstance(expr, (Attribute, Subscript)):
            # What a module offers, such as `math.pi`, is a number as well.
            return (
                ""
                if self._is_setting(expr)
                or dotted(expr) in ("math.pi", "math.e", "np.pi", "numpy.pi")
                or self._is_known_number(expr)
                else None
            )
        if isinstance(expr, Binary) and expr.operator in _OPERATORS:
            return self._common_kind([self._kind(side, depth - 1) for side in (expr.left, expr.right)])
        if isinstance(expr, Call):
            return self._how_call_differs(expr, depth)
        return None

    def _is_known_number(self, expr: Expr) -> bool:
        """Tell whether every known value of a name or attribute is a number."""
        values = values_of(self.program, self.scope, expr)
        return bool(values) and all(
            isinstance(item, Constant) and type(item.value) in (int, float) for item in values
        )

    def _kind_before(self, expr: Name, depth: int) -> str | None:
        """Return in words how a number that is assigned once before the loops changes."""
        bound = self.scope.binding(expr.name)
        if len(bound) != 1 or bound[0].kind not in ("assign", "annotate") or bound[0].value is None:
            return None
        if not any(is_name(target, expr.name) for target in bound[0].targets):
            return None
        return self._kind(bound[0].value, depth - 1)

    @staticmethod
    def _common_kind(kinds: list[str | None]) -> str | None:
        if None in kinds:
            return None
        found = next((kind for kind in kinds if kind), "")
        return _COMPUTED if found in (COUNTER, _ATTRIBUTE) else found

    def _how_call_differs(self, call: Call, depth: int) -> str | None:
        name = dotted(call.func) or ""
        if name.startswith("random.") and name[7:] in _DRAWS and self._is_imported("random"):
            return _DRAWN
        if call.keywords:
            return self._how_result_differs(call, depth)
        if name.startswith("math.") or name in _PLAIN:
            kinds = [self._kind(item, depth - 1) for item in call.args]
            if name == "float" and len(call.args) == 1 and kinds == [None]:
                if any(
                    isinstance(part, Call) and ".random." in f".{dotted(part.func) or ''}"
                    for part in walk(call.args[0])
                ):
                    return _DRAWN
                if self._of_turn(call.args[0]):
                    return _READ
            return self._common_kind(kinds) if kinds else None
        if (
            call.method == "item"
            and not call.args
            and call.receiver is not None
            and self._of_turn(call.receiver)
        ):
            return _READ
        return self._how_result_differs(call, depth)

    def _how_result_differs(self, call: Call, depth: int) -> str | None:
        """Return in words how a project function's result changes with its arguments.

        Example: `rate = schedule(epoch)`. Empty for a constant result, None for no certain number.
        """
        target = next(
            (
                site.targets[0]
                for site in flow_of(self.program).within(self.scope)
                if site.call is call and len(site.targets) == 1
            ),
            None,
        )
        if target is None or target.partial or target.compiled is not None or call.opaque:
            return None
        scope = target.scope
        returns = [event for event in scope.events() if event.kind == "return"]
        if not 1 <= len(returns) <= _MOST_RETURNS or scope.generator:
            return None
        names = [item.name for item in scope.params[int(target.receiver is not None) :]]
        given = dict(zip(names, call.args, strict=False))
        given.update({name: value for name, value in call.keywords if name is not None})
        kinds = {name: self._kind(item, depth - 1) for name, item in given.items()}
        if None in kinds.values():
            return None
        found: list[str | None] = []
        for event in returns:
            # Its own: what the parameters are is put in.
            inner = _LoopTurns(self.program, scope, event.block)
            inner.counters = {item.name: "" for item in scope.params if inner._is_constant(item.default)} | {
                name: kind or "" for name, kind in kinds.items()
            }
            found.append(inner._kind(event.value, depth - 2) if event.value is not None else None)
        return self._common_kind(found)

    def _is_imported(self, name: str) -> bool:
        here: Scope | None = self.scope
        while here is not None:
            if name in here.imports:
                return here.imports[name] == name
            here = self.program.outer(here)
        return False

    def _of_turn(self, expr: Expr) -> bool:
        """Tell whether an expression uses a name that the loops bind."""
        return any(
            isinstance(part, Name)
            and any(
                self._is_in_loop(event.block) or (event.bodies and event.bodies[0][0] in self.loops)
                for event in self.scope.binding(part.name)
            )
            for part in walk(expr)
        )

    def _own_counter(self, expr: Attribute) -> bool:
        """Tell whether an attribute of `self` is a counter that a loop raises.

        A method called in the loop may raise it.
        """
        owner = self.program.owner(self.scope)
        if (
            owner is None
            or not isinstance(expr.base, Name)
            or not self.scope.params
            or expr.base.name != self.scope.params[0].name
        ):
            return False
        stores = _counter_stores(self.program, owner, expr.attribute)
        if stores is None:
            return False
        for scope, event in stores:
            if event.kind != "augment":
                continue
            if scope is self.scope and self._is_in_loop(event.block):
                return True
            for site in flow_of(self.program).within(self.scope):
                if self._is_in_loop(site.call.block) and any(
                    target.scope is scope for target in site.targets
                ):
                    return True
        return False

    def _list_in_words(self, expr: Expr) -> str | None:
        """Return in words how a list changes between turns, or None."""
        if isinstance(expr, Collection):
            return (
                _HOLDS
                if expr.kind in ("list", "tuple")
                and any(self._number_in_words(item, _DEPTH) for item in expr.items)
                else None
            )
        if isinstance(expr, Comprehension):
            if expr.kind != "list" or len(expr.generators) != 1:
                return None
            iterable = expr.generators[0][1]
            if isinstance(iterable, Call):
                call = iterable
                if is_name(call.func, "range") and any(
                    self._number_in_words(item, _DEPTH) for item in call.args
                ):
                    return _LONGER
            return None
        if not isinstance(expr, Name):
            return None
        bound = self.scope.binding(expr.name)
        outside = [event for event in bound if not self._is_in_loop(event.block)]
        within = [event for event in bound if self._is_in_loop(event.block)]
        if within:
            value = within[0].value
            if (
                len(within) == 1
                and within[0].kind == "assign"
                and value is not None
                and isinstance(value, Comprehension)
            ):
                return self._list_in_words(value)
            return None
        if not outside or not all(self._empty_list(event) for event in outside):
            return None
        calls = [
            call
            for call in self.scope.calls
            if call.receiver is not None
            and is_same_expression(call.receiver, expr)
            and self._is_in_loop(call.block)
        ]
        methods = {call.method for call in calls}
        if not methods & {"append", "extend", "insert"} or methods & {"clear", "pop", "popleft", "remove"}:
            return None
        if any(event.kind == "delete" for event in self.scope.events() if self._is_in_loop(event.block)):
            return None
        return _LONGER

    def _empty_list(self, event: Event) -> bool:
        value: Any = event.value
        if event.kind not in ("assign", "annotate") or value is None:
            return False
        if isinstance(value, Collection):
            return bool(value.kind == "list")
        return bool(isinstance(value, Call) and is_name(value.func, "list"))


@once
def _counter_stores(program: Program, owner: Scope, name: str) -> list[tuple[Scope, Event]] | None:
    """Return the statements that set a counter attribute in a class and its bases.

    None where the attribute is no counter: it must begin with a number and only be raised by numbers.
    """
    found: list[tuple[Scope, Event]] = []
    begins = False
    for item in program.bases(owner).classes:
        for number in item.children.values():
            method = item.module.summary.scopes[number]
            if method.kind != "function" or not method.params:
                continue
            own = method.params[0].name
            for event in method.events():
                for target in event.targets:
                    if (
                        not isinstance(target, Attribute)
                        or target.attribute != name
                        or not is_name(target.base, own)
                    ):
                        continue
                    if not isinstance(event.value, Literal) or type(event.value.value) not in (int, float):
                        return None
                    begins = begins or event.kind in ("assign", "annotate")
                    found.append((method, event))
    return found if begins else None
