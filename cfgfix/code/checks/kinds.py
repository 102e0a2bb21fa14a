"""Values of the wrong kind: tensors assigned to, lists in arithmetic and so on."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import expects_absence
from cfgfix.code.inference.releases import passed_over_for_keras_2
from cfgfix.code.model.expressions import dotted, is_name, place_of, text, walk
from cfgfix.code.model.hit import Step, hit_in
from cfgfix.code.model.nodes import (
    Attribute,
    Binary,
    Call,
    Collection,
    Dictionary,
    Expr,
    Literal,
    Name,
    Subscript,
    Unary,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Constant, Made, Site, alternatives
from cfgfix.rules.hit import Hit

_ONE_TENSOR = frozenset(
    f"tensorflow.{name}"
    for name in (
        "zeros", "ones", "zeros_like", "ones_like", "fill", "eye", "constant", "convert_to_tensor", "cast", "reshape", "concat", "stack",
        "transpose", "expand_dims", "squeeze", "tile", "pad", "range", "linspace", "one_hot", "gather", "gather_nd", "identity",
        "clip_by_value", "abs", "add", "subtract", "multiply", "divide", "matmul", "tensordot", "einsum", "sqrt", "square", "exp", "sigmoid",
        "tanh", "sin", "cos", "maximum", "minimum", "argmax", "argmin", "sort", "argsort", "boolean_mask", "shape", "size", "rank",
        "sequence_mask", "broadcast_to", "repeat", "roll", "reverse", "stop_gradient", "tensor_scatter_nd_update", "scatter_nd", "round",
        "floor", "sign", "cumsum", "pow", "add_n", "norm", "slice", "strided_slice", "reduce_sum", "reduce_mean", "reduce_max", "reduce_min",
        "reduce_prod", "reduce_any", "reduce_all", "reduce_logsumexp", "math.reduce_sum", "math.reduce_mean", "math.reduce_max",
        "math.reduce_min", "math.reduce_std", "math.reduce_variance", "math.abs", "math.add", "math.subtract", "math.multiply", "math.divide",
        "math.sqrt", "math.square", "math.exp", "math.log", "math.pow", "math.sigmoid", "math.tanh", "math.maximum", "math.minimum",
        "math.logical_and", "math.logical_or", "math.logical_not", "math.argmax", "math.argmin", "math.cumsum", "random.uniform",
        "random.normal", "random.truncated_normal", "random.shuffle", "image.resize", "nn.softmax", "nn.relu", "nn.sigmoid", "nn.tanh",
        "nn.leaky_relu", "nn.log_softmax", "nn.l2_normalize", "nn.softmax_cross_entropy_with_logits",
        "nn.sparse_softmax_cross_entropy_with_logits", "nn.sigmoid_cross_entropy_with_logits",
    )
)  # fmt: skip
"""Operations whose result is one tensor, whatever they are given."""
_ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "**", "@"})
_DEPTH = 6


passed_over = passed_over_for_keras_2
"""Which modules these checks say nothing of."""


class _CertainTensors:
    """The names of one function that are certainly tensors."""

    def __init__(self, program: Program, scope: Scope) -> None:
        self._scope = scope
        self._sites = {site.call.number: site for site in flow_of(program).within(scope)}

    def holds(self, expr: Expr, depth: int = _DEPTH) -> bool:
        """Tell whether an expression is certainly a single tensor."""
        if depth == 0:
            return False
        if isinstance(expr, Call):
            site = self._sites.get(expr.number)
            return site is not None and not site.targets and not site.open and site.name in _ONE_TENSOR
        if isinstance(expr, Binary) and expr.operator in _ARITHMETIC:
            return self.holds(expr.left, depth - 1) or self.holds(expr.right, depth - 1)
        if isinstance(expr, Unary) and expr.operator == "-":
            return self.holds(expr.operand, depth - 1)
        return isinstance(expr, Name) and self.named(expr.name, depth - 1)

    def named(self, name: str, depth: int = _DEPTH) -> bool:
        """Tell whether a name is a single tensor wherever it is used."""
        scope = self._scope
        if name in scope.outer or any(item.name == name for item in scope.params):
            return False
        bound = scope.binding(name)
        return bool(bound) and all(self._gives_tensor(event, name, depth) for event in bound)

    def _gives_tensor(self, event: Event, name: str, depth: int) -> bool:
        if event.value is None:
            return False
        if event.kind == "augment":
            # `x += 1` of a tensor is a tensor; what it was before, its other bindings say.
            return is_name(event.targets[0], name) and len(self._scope.binding(name)) > 1
        if event.kind not in ("assign", "annotate"):
            return False
        if any(is_name(target, name) for target in event.targets):
            return self.holds(event.value, depth)
        return False


def assigned_item(program: Program) -> Iterator[Hit]:
    """Find assignments to and deletions of single tensor elements."""
    for module in program.modules:
        for scope in module.summary.scopes:
            tensors: _CertainTensors | None = None
            told: set[str] = set()
            for event in scope.events():
                if event.kind not in ("assign", "augment", "delete"):
                    continue
                for target in _single_targets(event):
                    if not isinstance(target, Subscript) or not isinstance(target.base, Name):
                        continue
                    name = target.base.name
                    if name in told or not scope.binding(name) or _is_shared(scope, name):
                        continue
                    tensors = tensors or _CertainTensors(program, scope)
                    if not tensors.named(name) or expects_absence(scope, event.block, event.place):
                        continue
                    told.add(name)
                    made = scope.binding(name)[0]
                    yield hit_in(
                        scope,
                        event.place,
                        event.block,
                        {
                            "name": name,
                            "verb": "deleted" if event.kind == "delete" else "assigned to",
                            "made": text(made.value),
                            "line": made.place.line,
                        },
                        related=(Step(scope, made.place, made.block, "the tensor"),),
                    )


def _is_shared(scope: Scope, name: str) -> bool:
    """Tell whether another scope of the file declares a name global or nonlocal."""
    return any(name in other.outer for other in scope.module.summary.scopes)


def _single_targets(event: Event) -> Iterator[Expr]:
    """Yield the single targets of a statement, unpacked ones included."""
    pending = list(event.targets)
    while pending:
        target = pending.pop()
        if isinstance(target, Collection):
            pending.extend(target.items)
        else:
            yield target


# Lists of weights that are calculated with as if they were one array


def weights_as_array(program: Program) -> Iterator[Hit]:
    """Find `get_weights` lists in arithmetic that lists refuse."""
    for site in flow_of(program).under("keras."):
        if site.call.method != "get_weights" or site.targets or site.open:
            continue
        scope = site.scope
        for event in scope.events():
            if event.value is None:
                continue
            for part in walk(event.value):
                said = _refused_list(program, scope, event, part, site) if isinstance(part, Binary) else None
                if said is None or expects_absence(scope, event.block, event.place):
                    continue
                yield hit_in(
                    scope,
                    place_of(part, scope) or event.place,
                    event.block,
                    {"expr": text(part), "given": text(site.call), "error": said},
                    related=(Step(scope, site.call.place, site.call.block, "a list of arrays"),),
                )
                break
            else:
                continue
            break


def _refused_list(program: Program, scope: Scope, event: Event, part: Binary, site: Site) -> str | None:
    """Return Python's error for a list of weights in an operation, or None."""
    for mine, other in ((part.left, part.right), (part.right, part.left)):
        if mine is not site.call and not (
            isinstance(mine, Name) and _last_given(scope, event, mine) is site.call
        ):
            continue
        number = _number_of(program, scope, other)
        if part.operator == "*" and isinstance(number, float):
            return "can't multiply sequence by non-int of type 'float'"
        if part.operator in ("-", "/") and (number is not None or _is_list(scope, event, other)):
            return f"unsupported operand type(s) for {part.operator}"
    return None


def _is_list(scope: Scope, event: Event, expr: Expr) -> bool:
    """Tell whether an expression is a list from `get_weights`."""
    given = _last_given(scope, event, expr) if isinstance(expr, Name) else expr
    return isinstance(given, Call) and given.method == "get_weights"


def _last_given(scope: Scope, event: Event, name: Name) -> Expr | None:
    """Return the last value assigned to a name before a statement, or None.

    None also where the assignment may be skipped.
    """
    before = [item for item in scope.binding(name.name) if item.place.start < event.place.start]
    last = before[-1] if before else None
    if last is None or last.kind != "assign" or last.block not in set(scope.block_numbers(event.block)):
        return None
    return last.value if any(is_name(target, name.name) for target in last.targets) else None


def _number_of(program: Program, scope: Scope, expr: Expr) -> float | int | None:
    """Return the number that an expression is, by literals and constants, or None."""
    if isinstance(expr, Literal):
        return (
            expr.value if isinstance(expr.value, (int, float)) and not isinstance(expr.value, bool) else None
        )
    if isinstance(expr, Binary) and expr.operator in ("+", "-", "*"):
        left, right = _number_of(program, scope, expr.left), _number_of(program, scope, expr.right)
        if left is None or right is None:
            return None
        return {"+": left + right, "-": left - right, "*": left * right}[expr.operator]
    if dotted(expr) is None:
        return None
    found = alternatives(flow_of(program).value_of_name(scope, expr))
    if len(found) == 1 and isinstance(found[0], Constant) and type(found[0].value) in (int, float):
        number: float | int = found[0].value
        return number
    return None


# What is given where a function, a list or a number is asked for

_SPECS = frozenset({"tensorflow.TensorSpec", "tensorflow.RaggedTensorSpec", "tensorflow.SparseTensorSpec"})
_FUNCTIONS = {
    "tensorflow.cond": (("true_fn", 1), ("false_fn", 2)),
    "tensorflow.while_loop": (("cond", 0), ("body", 1)),
}
"""The parameters that take functions, with their places."""


def wrong_kind(program: Program) -> Iterator[Hit]:
    """Find arguments whose kind a parameter refuses, whatever their value."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).under(
        "tensorflow.function", "tensorflow.cond", "tensorflow.while_loop", "keras.losses."
    ):
        key = id(site.scope), site.call.number
        if key in seen or site.targets or site.open or ".compat.v1" in site.raw:
            continue
        seen.add(key)
        found = _argument_of_wrong_kind(program, site)
        if found is None:
            continue
        expr, says = found
        yield hit_in(
            site.scope,
            place_of(expr, site.scope) or site.call.name_place,
            site.call.block,
            {"name": text(site.call.func), "says": says},
        )


def _argument_of_wrong_kind(program: Program, site: Site) -> tuple[Expr, str] | None:
    """Return an argument of the wrong kind and words for its fault, or None."""
    call, scope = site.call, site.scope
    if site.name == "tensorflow.function":
        given = call.keyword("input_signature")
        value = site.keywords.get("input_signature")
        if given is not None and isinstance(value, Made) and value.name in _SPECS:
            return (
                given,
                f"takes a list of specs for `input_signature` and is given one, {text(given)}: TypeError",
            )
        return None
    if site.name in _FUNCTIONS:
        tensors = _CertainTensors(program, scope)
        for name, position in _FUNCTIONS[site.name]:
            given = call.argument(position, name)
            if given is not None and (
                isinstance(given, (Binary, Literal, Collection, Dictionary))
                or tensors.holds(given)
                or _is_gradients(scope, given)
            ):
                return (
                    given,
                    f"calls `{name}` and is given {text(given)}, which is no function: TypeError",
                )
        return None
    if _made_with_data(site):
        return call.args[0], (
            f"is a class: {text(call.args[0])} and {text(call.args[1])} go to the options of a loss that is never "
            "calculated, and not to the loss"
        )
    return None


def _is_gradients(scope: Scope, expr: Expr) -> bool:
    """Tell whether an expression is a tape's gradients for a list of variables."""
    if isinstance(expr, Name):
        before = [event for event in scope.binding(expr.name) if event.place.end <= expr.place.start]
        last = before[-1] if before else None
        if last is None or last.kind != "assign" or not is_name(last.targets[0], expr.name):
            return False
        return isinstance(last.value, Call) and last.value.method == "gradient"
    return isinstance(expr, Call) and expr.method == "gradient"


_LABELS = frozenset({"y", "label", "labels", "true", "target", "targets", "gt", "truth", "ytrue"})
_OUTPUTS = frozenset(
    {
        "pred",
        "preds",
        "prediction",
        "predictions",
        "logits",
        "logit",
        "output",
        "outputs",
        "probs",
        "ypred",
        "yhat",
        "hat",
    }
)


_SHORT_NAMES = frozenset({"KLD", "MAE", "MAPE", "MSE", "MSLE"})
"""Functions of `tf.keras.losses` that are written like classes (TensorFlow 2.21, executed)."""


def _made_with_data(site: Site) -> bool:
    """Tell whether a loss class gets labels and predictions as its arguments."""
    call = site.call
    last = site.name.rpartition(".")[2]
    if site.name.count(".") != 2 or not last[:1].isupper() or last == "Loss" or last in _SHORT_NAMES:
        return False
    if len(call.args) < 2:
        return False
    first, second = (_last_words(item) for item in call.args[:2])
    return bool((first & _LABELS and second & _OUTPUTS) or (first & _OUTPUTS and second & _LABELS))


def _last_words(expr: Expr) -> set[str]:
    """Return the words of an expression's last name or key."""
    if isinstance(expr, Subscript):
        key = expr.index
        if isinstance(key, Literal) and isinstance(key.value, str):
            return set(key.value.lower().split("_"))
        return _last_words(expr.base)
    if isinstance(expr, Attribute):
        return set(expr.attribute.lower().split("_"))
    return set(expr.name.lower().split("_")) if isinstance(expr, Name) else set()
