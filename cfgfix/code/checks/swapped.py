"""Labels and predictions in the wrong order, and tests of a whole batch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import in_tests
from cfgfix.code.checks.models import keras_model_method
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.model.expressions import dotted, is_name, place_of, text
from cfgfix.code.model.hit import Rewrite, Step, hit_in
from cfgfix.code.model.nodes import Attribute, Binary, Call, Compare, Expr, Literal, Name, Subscript, Unary
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Function, alternatives
from cfgfix.rules.hit import Hit

_ONE_WAY = re.compile(
    r"keras\.(?:losses|metrics)\.(?:(?:Sparse)?CategoricalCrossentropy|Binary(?:Focal)?Crossentropy|CategoricalFocalCrossentropy"
    r"|KLDivergence|SparseCategoricalAccuracy|SparseTopKCategoricalAccuracy|TopKCategoricalAccuracy|Precision|Recall|AUC)"
    r"\.(?:__call__|update_state|call)"
    r"|keras\.(?:losses|metrics|backend)\.(?:sparse_categorical|categorical|binary)_crossentropy"
    r"|tensorflow\.nn\.(?:(?:sparse_)?softmax|sigmoid)_cross_entropy_with_logits(?:_v2)?"
)
"""Losses and metrics whose result is another one where labels and predictions change places."""
_OF_LABELS = frozenset({"y", "label", "labels", "true", "target", "targets", "gt", "truth", "ytrue"})
_NO_OUTPUTS = _OF_LABELS - {"y"}
_OF_OUTPUTS = frozenset(
    {
        "pred",
        "preds",
        "prediction",
        "predictions",
        "predicted",
        "logits",
        "logit",
        "probs",
        "probas",
        "ypred",
        "yhat",
        "hat",
    }
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


def labels_and_predictions(program: Program) -> Iterator[Hit]:
    """Find losses and metrics that get predictions before labels."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).under("keras.", "tensorflow.nn."):
        key = id(site.scope), site.call.number
        if key in seen or _ONE_WAY.fullmatch(site.name) is None or ".compat.v1" in site.raw:
            continue
        if site.call.opaque or site.targets or written_for_one(program, site.scope):
            continue
        seen.add(key)
        first = _argument_at(site.call, 0, "y_true", "labels", "target")
        second = _argument_at(site.call, 1, "y_pred", "logits", "output")
        if first is None or second is None or _role_of_name(second) != "labels":
            continue
        if _role_of_name(first) != "output" and not _is_called_to_train(first, site.scope):
            continue
        if _named_by_keras(site.scope, first, second):
            continue
        by_position = len(site.call.args) >= 2
        places = place_of(first, site.scope), place_of(second, site.scope)
        yield hit_in(
            site.scope,
            places[0] or site.call.name_place,
            site.call.block,
            {"call": text(site.call.func), "first": text(first), "second": text(second)},
            rewrites=(
                Rewrite("replace", site.scope, places[0], text(second)),
                Rewrite("replace", site.scope, places[1], text(first)),
            )
            if by_position and places[0] is not None and places[1] is not None
            else (),
            no_fix=None if by_position else "exchange what the two names are given",
        )


def _named_by_keras(scope: Scope, first: Expr, second: Expr) -> bool:
    """Tell whether two names are parameters of their function in the same order.

    Keras passes labels first: the names are then wrong, not the order.
    """
    names = [item.name for item in scope.params]
    if not isinstance(first, Name) or not isinstance(second, Name):
        return False
    if first.name not in names or second.name not in names:
        return False
    return names.index(first.name) < names.index(second.name)


def _argument_at(call: Call, position: int, *names: str) -> Expr | None:
    return next((found for name in names if (found := call.argument(position, name)) is not None), None)


def _role_of_name(expr: Expr) -> str:
    """Return `labels` or `output` by an expression's name; empty for neither or both."""
    last = expr.name if isinstance(expr, Name) else expr.attribute if isinstance(expr, Attribute) else ""
    words = {word.lower() for word in _WORD.findall(last)}
    if words & _OF_OUTPUTS:
        return "" if words & _NO_OUTPUTS else "output"
    return "labels" if words & _OF_LABELS else ""


def _is_called_to_train(expr: Expr, scope: Scope) -> bool:
    """Tell whether an expression is the result of a call with `training=`."""
    if isinstance(expr, Name):
        bound = scope.binding(expr.name)
        made = bound[0].value if len(bound) == 1 and bound[0].kind == "assign" else None
        if made is None or len(bound[0].targets) != 1 or not isinstance(bound[0].targets[0], Name):
            return False
        expr = made
    return isinstance(expr, Call) and expr.keyword("training") is not None


# Conditions of Python that ask a whole batch

_ELEMENTWISE = frozenset(
    {"abs", "square", "sqrt", "exp", "log", "subtract", "add", "multiply", "divide", "sign", "negative", "pow", "cast", "maximum",
     "minimum", "sigmoid", "tanh", "relu"}
)  # fmt: skip
_BOTH = frozenset({"subtract", "add", "multiply", "divide", "pow", "maximum", "minimum"})


def asked_of_batch(program: Program) -> Iterator[Hit]:
    """Find an `if` or `while` of a loss that tests a whole batch at once."""
    told: set[tuple[int, int]] = set()
    for scope, params in _loss_functions(program):
        if in_tests(scope) or written_for_one(program, scope):
            continue
        yield from _hits_of_tests(program, scope, params, told, 1)


def _loss_functions(program: Program) -> Iterator[tuple[Scope, frozenset[str]]]:
    """Yield the loss functions, with their parameters for labels and predictions."""
    for site in flow_of(program).sites:
        if site.call.method == "compile" and keras_model_method(site.name) == "compile":
            for value in alternatives(site.argument(1, "loss")):
                if isinstance(value, Function) and value.scope.kind == "function" and value.receiver is None:
                    yield (
                        value.scope,
                        frozenset(item.name for item in value.scope.params[value.partial :][:2]),
                    )
    for module in program.modules:
        for scope in module.summary.scopes:
            owner = program.owner(scope)
            if scope.name not in ("call", "__call__") or owner is None:
                continue
            if "keras.losses.Loss" in program.bases(owner).outside:
                yield scope, frozenset(item.name for item in scope.params[1:3])


def _hits_of_tests(
    program: Program, scope: Scope, params: frozenset[str], told: set[tuple[int, int]], depth: int
) -> Iterator[Hit]:
    for number, block in enumerate(scope.blocks):
        test = block.test
        key = id(scope), number
        if block.kind not in ("if", "while") or not isinstance(test, Compare) or key in told:
            continue
        if len(test.rights) != 1 or test.rights[0].operator not in ("<", ">", "<=", ">=", "==", "!="):
            continue
        asked = next(
            (
                part
                for part in (test.left, test.rights[0].right)
                if _of_batch(scope, part, params, block.line, 5)
            ),
            None,
        )
        place = place_of(test.left, scope)
        if asked is None or place is None:
            continue
        told.add(key)
        yield hit_in(
            scope,
            place_of(test, scope) or place,
            number,
            {"test": text(test), "asked": text(asked)},
            related=(Step(scope, scope.place, 0, "called with a batch"),) if depth == 0 else (),
        )
    if depth == 0:
        return
    for site in flow_of(program).within(scope):
        for target in site.targets:
            names = [
                item.name for item in target.scope.params[int(target.receiver is not None) + target.partial :]
            ]
            given = frozenset(
                name
                for name, item in zip(names, site.call.args, strict=False)
                if _of_batch(scope, item, params, site.call.line, 5)
            )
            if given and target.scope is not scope and not site.call.opaque:
                yield from _hits_of_tests(program, target.scope, given, told, 0)


def _of_batch(scope: Scope, expr: Expr, params: frozenset[str], line: int, depth: int) -> bool:
    """Tell whether an expression is computed element by element from a parameter."""
    if depth == 0:
        return False
    if isinstance(expr, Name):
        before = [event for event in scope.binding(expr.name) if event.place.line < line]
        if not before:
            return expr.name in params
        last = before[-1]
        return (
            last.kind == "assign"
            and last.block == 0
            and last.value is not None
            and any(is_name(target, expr.name) for target in last.targets)
            and _of_batch(scope, last.value, params, last.place.line, depth - 1)
        )
    if isinstance(expr, Binary):
        return expr.operator in ("+", "-", "*", "/", "**") and any(
            _of_batch(scope, side, params, line, depth - 1) for side in (expr.left, expr.right)
        )
    if isinstance(expr, Unary):
        return _of_batch(scope, expr.operand, params, line, depth - 1)
    if isinstance(expr, Call) and expr.args and not isinstance(expr.func, Call):
        last_name = (dotted(expr.func) or "").rpartition(".")[2]
        if last_name not in _ELEMENTWISE:
            return False
        given = expr.args[:2] if last_name in _BOTH else expr.args[:1]
        return any(_of_batch(scope, item, params, line, depth - 1) for item in given)
    return False


def shape_called(program: Program) -> Iterator[Hit]:
    """Find `shape` of an array or tensor that is called like a function."""
    own = any(
        scope.name == "shape" and scope.kind == "function"
        for module in program.modules
        for scope in module.summary.scopes
    )
    for module in program.modules if not own else ():
        if not any(
            source.startswith(("tensorflow", "keras", "numpy"))
            for scope in module.summary.scopes
            for source in scope.imports.values()
        ):
            continue
        for scope in module.summary.scopes:
            for call in scope.calls:
                if call.method != "shape" or len(call.args) != 1 or call.keywords:
                    continue
                if not isinstance(call.args[0], Literal) or type(call.args[0].value) is not int:
                    continue
                receiver = call.receiver
                if not isinstance(receiver, (Name, Attribute, Subscript)) or _is_module(scope, receiver):
                    continue
                yield hit_in(
                    scope,
                    call.name_place,
                    call.block,
                    {"written": text(call), "meant": f"{text(call.func)}[{call.args[0].value}]"},
                    rewrites=(
                        Rewrite("replace", scope, call.place, f"{text(call.func)}[{call.args[0].value}]"),
                    ),
                )


def _is_module(scope: Scope, receiver: Expr) -> bool:
    """Tell whether the base of `shape` is imported, as in `tf.shape`."""
    head = (dotted(receiver) or "").partition(".")[0]
    here: Scope | None = scope
    while here is not None:
        if head in here.imports:
            return True
        here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
    return False
