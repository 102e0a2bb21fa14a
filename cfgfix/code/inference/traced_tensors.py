"""Which expressions of a traced function are tensors that have no value yet."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import children, dotted, is_name
from cfgfix.code.model.nodes import Attribute, Call, Collection, Expr, Name, Subscript
from cfgfix.code.model.program import Program, is_keras_part
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Function, Site

OPERATION = re.compile(
    r"tensorflow\.(?:(?:math|nn|image|linalg|signal|strings|bitwise|random|sparse|ragged|io)\.)?[a-z]\w*"
    r"|keras\.(?:ops|losses|backend)\.[a-z]\w*"
    r"|keras\.(?:layers|losses|applications)\.[\w.]+\.__call__|keras\.(?:Model|Sequential)\.__call__"
)
"""What operations are called, and layers, models and losses where they are called; what is called so and gives none stands in `NONE`."""
NONE = frozenset(
    f"tensorflow.{name}"
    for name in (
        "function", "print", "is_tensor", "no_op", "group", "get_static_value", "name_scope", "device", "custom_gradient",
        "recompute_grad", "init_scope", "control_dependencies", "type_spec_from_value", "make_ndarray", "executing_eagerly",
        "is_symbolic_tensor", "as_dtype", "broadcast_static_shape", "inside_function", "get_logger", "make_tensor_proto",
        "random.set_seed", "random.get_global_generator", "timestamp", "load_library", "load_op_library", "map_fn", "nest",
        "py_function", "numpy_function", "cond", "case", "while_loop", "switch_case", "vectorized_map", "scan", "foldl", "foldr",
    )
) | frozenset(
    f"keras.backend.{name}"
    for name in (
        "image_data_format", "floatx", "epsilon", "int_shape", "ndim", "clear_session", "get_value", "eval", "set_floatx", "backend",
        "set_image_data_format", "set_epsilon", "get_uid", "dtype", "is_keras_tensor", "set_value", "function", "get_session",
        "set_session", "learning_phase", "set_learning_phase", "is_sparse", "count_params", "name_scope", "reset_uids",
        "manual_variable_initialization", "in_train_phase", "in_test_phase", "switch", "rnn", "batch_get_value", "batch_set_value",
    )
)  # fmt: skip
_KNOWN = frozenset({"shape", "dtype", "name", "ndim", "rank", "device", "graph", "op"})
"""What tracing knows of a tensor."""
_UNKNOWN_TO_GRAPHS = frozenset({"numpy", "get_shape", "as_list"})
_DEPTH = 6


def is_operation(name: str) -> bool:
    """Tell whether a dotted name is that of a function that returns tensors."""
    return OPERATION.fullmatch(name) is not None and name not in NONE


class TracedTensors:
    """The tensors of one function while it is traced.

    Attributes:
        sites: The calls of the function, by their numbers.
    """

    def __init__(
        self, program: Program, scope: Scope, given: frozenset[str], *, guess: bool, depth: int = 2
    ) -> None:
        """Know some parameters to be tensors.

        `guess` takes what an unknown function makes of a tensor for one as well; `depth` is how far functions of the project are
        asked what they give.
        """
        self._program = program
        self._scope = scope
        self._given = given
        self._guess = guess
        self._depth = depth
        self.sites: dict[int, Site] = {site.call.number: site for site in flow_of(program).within(scope)}

    def holds(self, expr: Expr, depth: int = _DEPTH) -> bool:
        """Tell whether an expression is calculated from a tensor."""
        pending = [expr]
        while pending:
            part = pending.pop()
            if isinstance(part, Name):
                if self._is_tensor(part, depth):
                    return True
            elif isinstance(part, Attribute) and part.attribute in _KNOWN:
                continue
            elif isinstance(part, Call):
                found = self._gives_tensors(part, depth)
                if found is not None:
                    if any(found):
                        return True
                    continue
                if self._guess:
                    pending.extend(children(part))
                elif part.receiver is not None:
                    # A method of a tensor; what it is given says nothing.
                    pending.append(part.receiver)
            elif isinstance(part, Subscript):
                pending.append(part.base)
            elif isinstance(part, Attribute):
                if self._guess:
                    pending.append(part.base)
            else:
                pending.extend(children(part))
        return False

    def _is_tensor(self, name: Name, depth: int) -> bool:
        """Tell whether a name is a tensor, by its last assignment or as a parameter."""
        last: Event | None = None
        for event in self._scope.binding(name.name):
            if event.place.start < name.place.start and not _is_around(event, name):
                last = event
        if last is None:
            return name.name in self._given
        return depth > 0 and last.value is not None and self._binds_tensor(last, name.name, depth - 1)

    def _binds_tensor(self, event: Event, name: str, depth: int) -> bool:
        """Tell whether a statement binds a name to a tensor."""
        value = event.value
        if value is None or event.kind not in ("assign", "augment", "annotate"):
            return False
        if event.kind == "augment" and self._is_tensor(Name(name, event.place), depth):
            return True
        for target in event.targets:
            if is_name(target, name):
                return self.holds(value, depth)
            if isinstance(target, Collection):
                for position, part in enumerate(target.items):
                    if is_name(part, name):
                        return self._is_tensor_item(value, position, len(target.items), depth)
        return False

    def _is_tensor_item(self, value: Expr, position: int, length: int, depth: int) -> bool:
        """Tell whether one item of a value that is unpacked is a tensor."""
        if isinstance(value, Collection):
            return len(value.items) == length and self.holds(value.items[position], depth)
        if isinstance(value, Call):
            found = self._gives_tensors(value, depth)
            if found is not None:
                return found[position] if len(found) == length else len(found) == 1 and found[0]
        return self.holds(value, depth)

    def _gives_tensors(self, call: Call, depth: int) -> tuple[bool, ...] | None:
        """Tell for each item of a call's result whether it is a tensor.

        None where that is not known.
        """
        if call.method in _UNKNOWN_TO_GRAPHS or (dotted(call.func) or "").startswith("super"):
            return (False,)
        if isinstance(call.func, Name) and call.func.name in ("type", "len", "isinstance", "hasattr"):
            return (False,)
        site = self.sites.get(call.number)
        if site is None:
            return None
        if site.targets:
            results = [self._returns_tensors(site, target, depth) for target in site.targets]
            return results[0] if all(item == results[0] for item in results) and not site.open else (False,)
        if site.name.startswith(("numpy.", "scipy.")):
            return (False,)
        if site.name.startswith(("tensorflow.", "keras.")):
            return (is_operation(site.name),)
        return None

    def _returns_tensors(self, site: Site, target: Function, depth: int) -> tuple[bool, ...]:
        """Tell for each item of a function's result whether it is a tensor."""
        owner = self._program.owner(target.scope)
        if target.scope.name == "call" and owner is not None and is_keras_part(self._program, owner):
            return (True,)
        if self._depth <= 0 or depth <= 0 or target.scope is self._scope:
            return (False,)
        inside = TracedTensors(
            self._program,
            target.scope,
            frozenset(self.handed_on(site, target, depth)),
            guess=self._guess,
            depth=self._depth - 1,
        )
        found: list[tuple[bool, ...]] = []
        if target.scope.kind == "lambda":
            values = [event.value for event in target.scope.events() if event.value is not None]
        else:
            values = [
                event.value for event in target.scope.events() if event.kind == "return" and event.value
            ]
        for value in values:
            if isinstance(value, Collection):
                found.append(tuple(inside.holds(item, depth - 1) for item in value.items))
            else:
                found.append((inside.holds(value, depth - 1),))
        if not found or any(item != found[0] for item in found):
            return (False,)
        return found[0]

    def handed_on(self, site: Site, target: Function, depth: int = _DEPTH) -> Iterator[str]:
        """Yield the parameters of a function that get tensors from a call."""
        call: Call = site.call
        if call.opaque:
            return
        offset = int(target.receiver is not None) + target.partial
        names = [item.name for item in target.scope.params[offset:]]
        for name, item in zip(names, call.args, strict=False):
            if self.holds(item, depth - 1):
                yield name
        for key, item in call.keywords:
            if key is not None and key in names and self.holds(item, depth - 1):
                yield key


def _is_around(event: Event, name: Name) -> bool:
    """Tell whether a name is part of a simple statement.

    What that statement assigns to the name comes after the use.
    """
    first, last = event.place.start, event.place.end
    return not event.bodies and first <= name.place.start and name.place.end <= last
