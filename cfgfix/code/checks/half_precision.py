"""Custom layers under a half precision policy that mix in float32 values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from cfgfix.code.checks.common import in_tests, value_named
from cfgfix.code.checks.numerics import policies_named
from cfgfix.code.checks.outputs import constant_in_every_call
from cfgfix.code.inference.entry_points import modules_sharing_runs, never_run
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import constant, dotted, is_name, place_of, text
from cfgfix.code.model.hit import at, hit_in
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Call,
    Collection,
    Expr,
    Literal,
    Name,
    Place,
    Subscript,
    Unary,
)
from cfgfix.code.model.program import Program, is_keras_part
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import ClassValue, Constant, Function, Site
from cfgfix.core.records import dataclass
from cfgfix.rules.hit import Hit

_POLICIES: Final = {"mixed_float16": "float16", "mixed_bfloat16": "bfloat16"}

HALF, SINGLE, NUMBER = "half", "single", "number"
"""What an expression is: cast by the policy, float32 whatever the policy, a Python number that takes either's type."""

_LAYERS = frozenset(
    {
        "Activation", "Add", "Average", "AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "BatchNormalization", "Concatenate",
        "Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Dense", "DepthwiseConv1D",
        "DepthwiseConv2D", "Dropout", "ELU", "Embedding", "Flatten", "GlobalAveragePooling1D", "GlobalAveragePooling2D",
        "GlobalMaxPooling1D", "GlobalMaxPooling2D", "GroupNormalization", "LayerNormalization", "LeakyReLU", "MaxPooling1D",
        "MaxPooling2D", "MaxPooling3D", "MultiHeadAttention", "Multiply", "PReLU", "ReLU", "SeparableConv1D", "SeparableConv2D",
        "Softmax", "SpatialDropout1D", "SpatialDropout2D", "Subtract", "UpSampling1D", "UpSampling2D", "ZeroPadding2D",
    }
)  # fmt: skip
"""Layers whose only output has the compute type of the policy (asked of Keras 3.12 and 2.15 under `mixed_float16`)."""
_SINGLE_BY_DEFAULT: Final[Mapping[str, int]] = {
    "tensorflow.ones": 1, "tensorflow.zeros": 1, "tensorflow.eye": 3, "tensorflow.random.normal": 3,
    "tensorflow.random.truncated_normal": 3, "tensorflow.random.uniform": 3,
}  # fmt: skip
"""Functions that make float32 unless told otherwise, with the position of `dtype`."""
_KEEPS = frozenset(
    f"tensorflow.{name}"
    for name in (
        "abs", "clip_by_value", "exp", "expand_dims", "gather", "identity", "math.abs", "math.cos", "math.exp", "math.log",
        "math.reduce_max", "math.reduce_mean", "math.reduce_sum", "math.rsqrt", "math.sigmoid", "math.sin", "math.softmax", "math.sqrt",
        "math.square", "math.tanh", "nn.dropout", "nn.elu", "nn.gelu", "nn.leaky_relu", "nn.log_softmax", "nn.relu", "nn.sigmoid",
        "nn.softmax", "nn.tanh", "reduce_max", "reduce_mean", "reduce_sum", "repeat", "reshape", "reverse", "roll", "sigmoid", "sin",
        "cos", "sqrt", "square", "squeeze", "stop_gradient", "tanh", "tile", "transpose",
    )
)  # fmt: skip
"""Functions whose result has the type of their first argument."""
_COMBINES: Final[Mapping[str, tuple[int, ...]]] = {
    "tensorflow.add": (0, 1), "tensorflow.math.add": (0, 1), "tensorflow.subtract": (0, 1), "tensorflow.math.subtract": (0, 1),
    "tensorflow.multiply": (0, 1), "tensorflow.math.multiply": (0, 1), "tensorflow.divide": (0, 1), "tensorflow.math.divide": (0, 1),
    "tensorflow.maximum": (0, 1), "tensorflow.math.maximum": (0, 1), "tensorflow.minimum": (0, 1), "tensorflow.math.minimum": (0, 1),
    "tensorflow.matmul": (0, 1), "tensorflow.linalg.matmul": (0, 1), "tensorflow.einsum": (1, 2), "tensorflow.where": (1, 2),
}  # fmt: skip
"""Functions that refuse arguments of two types, with the positions of these."""
_ARITHMETIC = frozenset({"+", "-", "*", "/", "@", "**"})
_DEPTH = 3


@dataclass(frozen=True, slots=True)
class _TypeClash:
    """A float32 operand, or a number too small for float16, in a layer's code.

    Attributes:
        scope: Where it stands.
        shown: The float32 side, as it is written.
        place: Its span.
        block: The block it stands in.
    """

    scope: Scope
    shown: str
    place: Place
    block: int


class _ExpressionTypes:
    """The types of the expressions in the methods of a class."""

    def __init__(self, program: Program, owner: Scope) -> None:
        self._program = program
        self._owner = owner
        self._stores: dict[str, list[tuple[Scope, Expr | None]]] = {}
        self.clashes: list[_TypeClash] = []
        self.vanishing: list[_TypeClash] = []
        for item in program.bases(owner).classes:
            for method in item.module.summary.scopes[item.number + 1 :]:
                if method.parent != item.number or not method.params:
                    continue
                for event in method.events():
                    for target in event.targets:
                        if isinstance(target, Attribute) and is_name(target.base, method.params[0].name):
                            plain = event.kind in ("assign", "annotate")
                            self._stores.setdefault(target.attribute, []).append(
                                (method, event.value if plain else None)
                            )

    def run(self, method: Scope) -> None:
        """Record the operations of `call` that mix types.

        Keras casts its first argument.
        """
        names = [name for name, _, _, kind in method.params if kind == "plain"]
        self._run_block(method, method.body, {names[1]: HALF} if len(names) > 1 else {}, _DEPTH)

    def _run_block(
        self, scope: Scope, events: Sequence[Event], types: dict[str, str | None], depth: int
    ) -> list[str | None]:
        """Run statements in order and return the types of the returned values."""
        returned: list[str | None] = []
        for event in events:
            if event.kind in ("assign", "annotate") and event.value is not None:
                found = self.type_of(event.value, scope, types, event.block, depth)
                for target in event.targets:
                    _bind_types(target, found, types)
            elif event.kind == "augment" and event.value is not None:
                left = self.type_of(event.targets[0], scope, types, event.block, depth)
                right = self.type_of(event.value, scope, types, event.block, depth)
                if event.operator.rstrip("=") in _ARITHMETIC:
                    self._note_mixed_operation(
                        scope, ((event.targets[0], left), (event.value, right)), event.block
                    )
                _bind_types(event.targets[0], _type_of_operation(left, right), types)
            elif event.kind in ("return", "expr") and event.value is not None:
                found = self.type_of(event.value, scope, types, event.block, depth)
                if event.kind == "return":
                    returned.append(found)
            elif event.bodies:
                ends = [types]
                for target in event.targets:
                    _bind_types(target, None, types)
                for _, body in event.bodies:
                    ends.append(dict(types))
                    returned += self._run_block(scope, body, ends[-1], depth)
                for name in {name for end in ends for name in end}:
                    sides = {end.get(name) for end in ends}
                    types[name] = sides.pop() if len(sides) == 1 else None
        return returned

    def type_of(
        self, expr: Expr, scope: Scope, types: Mapping[str, str | None], block: int, depth: int
    ) -> str | None:
        """Return the type of an expression, or None where not certain."""
        if isinstance(expr, Name):
            return types.get(expr.name)
        if isinstance(expr, Literal):
            return (
                NUMBER if isinstance(expr.value, (int, float)) and not isinstance(expr.value, bool) else None
            )
        if isinstance(expr, Subscript):
            return self.type_of(expr.base, scope, types, block, depth)
        if isinstance(expr, Unary) and expr.operator == "-":
            return self.type_of(expr.operand, scope, types, block, depth)
        if isinstance(expr, Binary) and expr.operator in _ARITHMETIC:
            left = self.type_of(expr.left, scope, types, block, depth)
            right = self.type_of(expr.right, scope, types, block, depth)
            self._note_mixed_operation(scope, ((expr.left, left), (expr.right, right)), block)
            if expr.operator == "+":
                self._add_sum(scope, ((expr.left, left), (expr.right, right)), block)
            return _type_of_operation(left, right)
        if isinstance(expr, Attribute) and scope.params and is_name(expr.base, scope.params[0].name):
            return self._type_of_attribute(expr.attribute, depth)
        if isinstance(expr, Call):
            return self._type_of_call(expr, scope, types, block, depth)
        return None

    def _type_of_attribute(self, attribute: str, depth: int) -> str | None:
        """Return float32 for an attribute whose only assignment makes it so, or None."""
        stores = self._stores.get(attribute, ())
        if len(stores) != 1 or depth <= 0:
            return None
        method, value = stores[0]
        if value is None or method.name not in ("__init__", "build"):
            return None
        found = self.type_of(value, method, {}, 0, depth - 1)
        return SINGLE if found == SINGLE else None

    def _type_of_call(
        self, call: Call, scope: Scope, types: Mapping[str, str | None], block: int, depth: int
    ) -> str | None:
        given = [self.type_of(item, scope, types, block, depth) for item in call.args]
        first = given[0] if given else None
        name = canonical_name(self._program.static_name(call.func, scope) or "")
        if name in ("tensorflow.cast", "tensorflow.convert_to_tensor", "tensorflow.constant"):
            told = call.argument(1, "dtype")
            if told is not None:
                return SINGLE if _is_float32(self._program, told, scope) else None
            if name == "tensorflow.cast":
                return None
            return SINGLE if call.args and _holds_floats(call.args[0]) else first if first == SINGLE else None
        if name in _SINGLE_BY_DEFAULT:
            told = call.argument(_SINGLE_BY_DEFAULT[name], "dtype")
            return SINGLE if told is None or _is_float32(self._program, told, scope) else None
        if name == "tensorflow.range":
            told = call.keyword("dtype")
            if told is not None:
                return SINGLE if _is_float32(self._program, told, scope) else None
            return SINGLE if call.args and any(_holds_floats(item) for item in call.args) else None
        if name == "tensorflow.image.resize":
            way = call.argument(2, "method")
            return SINGLE if way is None or constant(way) in _TO_SINGLE else None
        if name == "tensorflow.Variable":
            return SINGLE if first == SINGLE and call.keyword("dtype") is None else None
        if name in _KEEPS:
            return SINGLE if first == NUMBER and call.args and _holds_floats(call.args[0]) else first
        if name in _COMBINES:
            sides = [(call.args[at], given[at]) for at in _COMBINES[name] if at < len(call.args)]
            self._note_mixed_operation(scope, sides, call.block)
            if name.rpartition(".")[2] in ("add", "maximum"):
                self._add_sum(scope, sides, call.block)
            return _type_of_operation(*(kind for _, kind in sides)) if len(sides) > 1 else None
        if name == "tensorflow.concat" and call.args and isinstance(call.args[0], Collection):
            sides = [(item, self.type_of(item, scope, types, block, depth)) for item in call.args[0].items]
            self._note_mixed_operation(scope, sides, call.block)
            return _type_of_operation(*(kind for _, kind in sides))
        return self._type_of_own_call(call, scope, depth)

    def _type_of_own_call(self, call: Call, scope: Scope, depth: int) -> str | None:
        """Return the type of a result of an own layer, method or function, or None."""
        func = call.func
        if isinstance(func, Attribute) and scope.params and is_name(func.base, scope.params[0].name):
            stores = self._stores.get(func.attribute, ())
            if stores:
                return HALF if all(self._is_layer(value, where) for where, value in stores) else None
            method = self._program.method(self._owner, func.attribute)
        else:
            value = self._program.static_value(func, scope)
            method = value.scope if isinstance(value, Function) else None
        if method is None or method.kind != "function" or method.generator or depth <= 0:
            return None
        before = len(self.clashes)
        returned = self._run_block(method, method.body, {}, depth - 1)
        del self.clashes[before:]
        return SINGLE if returned and set(returned) == {SINGLE} else None

    def _is_layer(self, value: Expr | None, scope: Scope) -> bool:
        """Tell whether an expression makes a Keras layer that follows the policy."""
        if value is None or not isinstance(value, Call):
            return False
        call = value
        name = canonical_name(self._program.static_name(call.func, scope) or "")
        return (
            name.startswith("keras.layers.")
            and name.rpartition(".")[2] in _LAYERS
            and not call.opaque
            and call.keyword("dtype") is None
        )

    def _add_sum(self, scope: Scope, sides: Iterable[tuple[Expr, str | None]], block: int) -> None:
        """Record an added number that is 0 in half precision."""
        known = list(sides)
        if not any(kind == HALF for _, kind in known):
            return
        for expr, kind in known:
            if kind in (None, NUMBER):
                number = self._constant_float(expr, scope)
                place = place_of(expr, scope)
                if number is not None and 0 < number < _LEAST_HALF and place is not None:
                    self.vanishing.append(_TypeClash(scope, f"{number:g}", place, block))

    def _constant_float(self, expr: Expr, scope: Scope, depth: int = 2 * _DEPTH) -> float | None:
        """Return the float that an expression always is, or None.

        It may be literal, a constructor's constant, or cast to a type other than float32.
        """
        if depth == 0:
            return None
        if isinstance(expr, Literal):
            return expr.value if isinstance(expr.value, float) else None
        if isinstance(expr, Call):
            name = canonical_name(self._program.static_name(expr.func, scope) or "")
            told = expr.argument(1, "dtype")
            if name != "tensorflow.cast" or not expr.args or told is None:
                return None
            if _is_float32(self._program, told, scope):
                return None
            return self._constant_float(expr.args[0], scope, depth - 1)
        if isinstance(expr, Attribute) and scope.params and is_name(expr.base, scope.params[0].name):
            stores = self._stores.get(expr.attribute, ())
            if len(stores) != 1 or stores[0][1] is None or stores[0][0].name != "__init__":
                return None
            return self._constant_float(stores[0][1], stores[0][0], depth - 1)
        if isinstance(expr, Name):
            if any(item.name == expr.name for item in scope.params):
                given = constant_in_every_call(self._program, scope, expr.name)
                return self._constant_float(given, scope, depth - 1) if given is not None else None
            value = value_named(self._program, scope, expr.name) if expr.name not in scope.names else None
            return value.value if isinstance(value, Constant) and isinstance(value.value, float) else None
        return None

    def _note_mixed_operation(
        self, scope: Scope, sides: Iterable[tuple[Expr, str | None]], block: int
    ) -> None:
        """Record an operation that mixes float32 and half precision."""
        known = list(sides)
        singles = [expr for expr, kind in known if kind == SINGLE]
        if singles and any(kind == HALF for _, kind in known):
            place = place_of(singles[0], scope)
            if place is not None:
                self.clashes.append(_TypeClash(scope, _text_without_index(singles[0]), place, block))


_TO_SINGLE = ("bilinear", "bicubic", "lanczos3", "lanczos5", "area", "gaussian", "mitchellcubic")
"""Ways of resizing that make float32 of every picture."""


def _text_without_index(expr: Expr) -> str:
    """Return the text of an expression without its subscripts."""
    while isinstance(expr, Subscript):
        expr = expr.base
    return text(expr)


def _bind_types(target: Expr, found: str | None, types: dict[str, str | None]) -> None:
    if isinstance(target, Name):
        types[target.name] = found
    elif isinstance(target, Collection):
        # Keras casts each of several inputs; the parts of anything else are not told apart.
        for item in target.items:
            _bind_types(item, None, types)


def _type_of_operation(*kinds: str | None) -> str | None:
    """Return the type of an operation from its operands' types, or None.

    A Python number takes the type of the other operand.
    """
    found = {kind for kind in kinds if kind != NUMBER}
    if not found:
        return NUMBER
    return found.pop() if len(found) == 1 else None


def _holds_floats(expr: Expr) -> bool:
    """Tell whether a literal contains floats, which TensorFlow makes float32."""
    if isinstance(expr, Unary):
        return _holds_floats(expr.operand)
    if isinstance(expr, Binary) and expr.operator in ("*", "+"):
        return _holds_floats(expr.left) or _holds_floats(expr.right)
    if isinstance(expr, Collection):
        return any(_holds_floats(item) for item in expr.items)
    return isinstance(expr, Literal) and isinstance(expr.value, float)


def _is_float32(program: Program, expr: Expr, scope: Scope) -> bool:
    if constant(expr) == "float32":
        return True
    return canonical_name(program.static_name(expr, scope) or "") == "tensorflow.float32"


_LEAST_HALF: Final = 2.0**-25
"""Half of float16's smallest number: what is below is rounded to 0."""


def lost_in_half(program: Program) -> Iterator[Hit]:
    """Find small numbers in custom layers that become 0 in float16.

    They are meant to keep a division or a root from 0.
    """
    for owner, policy, types in _under_policies(program, "float16"):
        for item in types.vanishing[:1]:
            yield hit_in(
                item.scope,
                item.place,
                item.block,
                {"number": item.shown, "layer": owner.name, "policy": _place_of_policy(policy, item.scope)},
                needs=((policy.scope, policy.call.block),),
                related=(at(policy, label="float16 for all layers made after it"),),
            )


def _under_policies(program: Program, wanted: str) -> Iterator[tuple[Scope, Site, _ExpressionTypes]]:
    """Yield the custom layers that a policy puts in half precision, with their types."""
    policies = [
        (site, kind)
        for name, kind in _POLICIES.items()
        if kind == wanted
        for site in policies_named(program, name)
    ]
    if not policies:
        return
    made = _makers_of_classes(program)
    for module in program.modules:
        for owner in module.summary.scopes:
            if owner.kind != "class" or not made.get(id(owner)) or not is_keras_part(program, owner):
                continue
            number = owner.children.get("call")
            if number is None or _keeps_its_type(program, owner, made[id(owner)]):
                continue
            method = owner.module.summary.scopes[number]
            found = _policy_of(program, policies, method, made[id(owner)])
            if found is None or never_run(program, method):
                continue
            types = _ExpressionTypes(program, owner)
            types.run(method)
            yield owner, found[0], types


def single_meets_half(program: Program) -> Iterator[Hit]:
    """Find own layers that combine float32 with the policy's half precision."""
    policies = [(site, kind) for name, kind in _POLICIES.items() for site in policies_named(program, name)]
    if not policies:
        return
    made = _makers_of_classes(program)
    for module in program.modules:
        for owner in module.summary.scopes:
            if owner.kind != "class" or not made.get(id(owner)) or not is_keras_part(program, owner):
                continue
            number = owner.children.get("call")
            if number is None or _keeps_its_type(program, owner, made[id(owner)]):
                continue
            method = owner.module.summary.scopes[number]
            found = _policy_of(program, policies, method, made[id(owner)])
            if found is None or never_run(program, method):
                continue
            policy, kind = found
            types = _ExpressionTypes(program, owner)
            types.run(method)
            for clash in types.clashes[:1]:
                yield hit_in(
                    clash.scope,
                    clash.place,
                    clash.block,
                    {
                        "expression": clash.shown,
                        "type": kind,
                        "layer": owner.name,
                        "policy": _place_of_policy(policy, clash.scope),
                    },
                    severity="warning" if _is_switched(policy) else None,
                    needs=((policy.scope, policy.call.block),),
                    related=(at(policy, label=f"{kind} for all layers made after it"),),
                )


def _makers_of_classes(program: Program) -> dict[int, list[tuple[Scope, Call]]]:
    """Return the calls that make custom layers or models, by the id of the class.

    Calls in tests are left out.
    """
    names = {
        owner.name
        for module in program.modules
        for owner in module.summary.scopes
        if owner.kind == "class" and is_keras_part(program, owner)
    }
    found: dict[int, list[tuple[Scope, Call]]] = {}
    for module in program.modules:
        for scope in module.summary.scopes:
            for call in scope.calls:
                name = call.func.name if isinstance(call.func, Name) else call.method
                if name not in names or in_tests(scope):
                    continue
                value = program.static_value(call.func, scope)
                if isinstance(value, ClassValue):
                    found.setdefault(id(value.scope), []).append((scope, call))
    return found


def _place_of_policy(policy: Site, scope: Scope) -> str:
    """Return the line of a policy for a message, with the path if in another file."""
    line = policy.call.line
    module = policy.scope.module
    return f"line {line}" if module is scope.module else f"{module.path}:{line}"


def _is_switched(policy: Site) -> bool:
    """Tell whether a policy is set under an `if`."""
    return any(item.kind == "if" for item in policy.scope.block_chain(policy.call.block))


def _policy_of(
    program: Program,
    policies: Sequence[tuple[Site, str]],
    method: Scope,
    makers: Sequence[tuple[Scope, Call]],
) -> tuple[Site, str] | None:
    """Return the policy that applies when a layer is made, or None."""
    for policy, kind in policies:
        reached = {policy.scope.module.path, *modules_sharing_runs(program, policy.scope.module)}
        if method.module.path not in reached:
            continue
        if all(scope is policy.scope and call.place < policy.call.place for scope, call in makers):
            continue
        return policy, kind
    return None


def _keeps_its_type(program: Program, owner: Scope, makers: Iterable[tuple[Scope, Call]]) -> bool:
    """Tell whether a class or its callers may choose its dtype."""
    if any(call.opaque or call.keyword("dtype") is not None for _, call in makers):
        return True
    for item in program.bases(owner).classes:
        for method in item.module.summary.scopes[item.number + 1 :]:
            if method.parent != item.number:
                continue
            for event in method.events():
                for target in event.targets:
                    shown = dotted(target) or ""
                    if shown.endswith(("autocast", "dtype_policy", "._dtype")):
                        return True
            for call in method.calls:
                if call.method == "__init__" and any(
                    name in ("dtype", "autocast") for name, _ in call.keywords
                ):
                    return True
    return False
