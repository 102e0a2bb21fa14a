"""What comparing two values gives, and what it shows of the config keys among them."""

from __future__ import annotations

from cfgfix.code.inference.given_texts import texts_given
from cfgfix.code.inference.interpreter import classes, reading
from cfgfix.code.inference.interpreter.events import GUARD, Asked
from cfgfix.code.inference.interpreter.models.operators import compared, names_left, same_class
from cfgfix.code.inference.interpreter.objects import (
    Choice,
    FunctionObject,
    Instance,
    Made,
    Mapping,
    Method,
    Scalar,
    Sequence,
    Unknown,
    Value,
)
from cfgfix.code.inference.interpreter.run import Call, Frame
from cfgfix.code.inference.interpreter.values import (
    alternatives,
    constant_of,
    entry_name,
    key_of,
    truth,
)
from cfgfix.code.model import nodes
from cfgfix.code.model.nodes import Expr


def has_one_outcome(frame: Frame, expr: nodes.Compare, outcome: bool) -> bool:
    """Tell whether a comparison with a string has one outcome for all known strings.

    These are the constants that the code assigns to the compared variable or attribute.
    """
    if len(expr.rights) != 1:
        return False
    left, sign, right = expr.left, expr.rights[0].operator, expr.rights[0].right
    for about, other, is_left in ((left, right, True), (right, left, False)):
        if not isinstance(about, (nodes.Name, nodes.Attribute)):
            continue
        words = _words_in(other)
        name = about.name if isinstance(about, nodes.Name) else about.attribute
        if (
            words is None
            or sign not in ("==", "!=", "in", "not in")
            or (sign[-2:] == "in" and is_left is isinstance(other, nodes.Literal))
        ):
            continue
        given = texts_given(frame.run.program, name)
        return bool(given) and all(
            (
                any(word in text_given for word in words)
                if sign[-2:] == "in" and not is_left
                else text_given in words
            )
            is (outcome is (sign in ("==", "in")))
            for text_given in given or ()
        )
    return False


def _words_in(expr: Expr) -> tuple[str, ...] | None:
    """Return the strings in an expression: a constant, or a literal list of them.

    None for any other expression.
    """
    items = expr.items if isinstance(expr, nodes.Collection) else (expr,)
    words = tuple(
        item.value for item in items if isinstance(item, nodes.Literal) and isinstance(item.value, str)
    )
    return words if len(words) == len(items) else None


def comparison_result(
    frame: Frame, operator: str, left: Value, right: Value, expr: nodes.Compare
) -> bool | None:
    """Return what comparing two values gives; None where that is not known."""
    if operator in ("in", "not in"):
        found = _contains_item(frame, right, left, expr)
        return found if found is None or operator == "in" else not found
    if operator in ("is", "is not"):
        if isinstance(constant_of(left), str) and left.origins != right.origins and _may_be_text(right):
            # A text that was read from a file is another object than one that stands in the code.
            return None
        same = same_class(left, right)
        if same is not None:
            return same is (operator == "is")
        if type(left) is Scalar and type(right) is Scalar and not left.optional:
            same_object = left.value is right.value or (
                type(left.value) is type(right.value) and left.value == right.value
            )
            return same_object if operator == "is" else not same_object
        if type(left) is Scalar and left.value is not None and type(right) is Scalar and right.value is None:
            # An option with a default is never None, whatever the command gives.
            return operator == "is not"
        if (
            type(right) is Scalar
            and right.value is None
            and not isinstance(left, (Unknown, Choice, Method, Made, Scalar))
        ):
            return operator == "is not"
        return None
    if operator in ("<=", ">=") and isinstance(left, Sequence) and isinstance(right, Sequence):
        inner, outer = (left, right) if operator == "<=" else (right, left)
        lacking = names_left(frame.run, inner, outer, frame.spot(expr.place))
        of_sets = all(item.kind == "set" or item.names_of is not None for item in (left, right))
        return not lacking.items if of_sets and lacking is not None else None
    found = compared(operator, left, right)
    if operator in ("==", "!="):
        for one, other in ((left, right), (right, left)):
            if type(other) is Scalar and not other.origins:
                frame.run.note_rivals(one, (other.value,))
            if type(one) is Scalar and one.key is not None and type(other) is Scalar and other.key is None:
                one.key.compared.append((other.value, found is (operator == "==")))
    return found


def _may_be_text(value: Value) -> bool:
    return isinstance(value.value, str) if type(value) is Scalar else isinstance(value, (Unknown, Choice))


def _contains_item(frame: Frame, holder: Value, item: Value, expr: nodes.Compare) -> bool | None:
    run = frame.run
    inner = holder.entries if isinstance(holder, Instance) and holder.entries is not None else holder
    if isinstance(inner, Method) and isinstance(inner.owner, Mapping):
        inner = inner.owner
    name = entry_name(item)
    if isinstance(inner, Mapping):
        if name is None:
            if not reading.is_own_table(inner):
                run.walk(inner, frame.spot(expr.place))
            return None
        found = inner.entries.get(name)
        if found is not None:
            for each in alternatives(found):
                if (key := key_of(each)) is not None:
                    key.guards.append(frame.spot(expr.place))
            return None if name in inner.unsure else True
        if inner.open:
            return None
        if inner.sections:
            run.asked.append(
                Asked(
                    inner.sections,
                    str(name),
                    GUARD,
                    frame.spot(expr.place),
                    conditions=run.conditions,
                )
            )
        return False
    if isinstance(inner, Sequence):
        if inner.key is not None:
            # Which items it has decides, whatever the outcome.
            inner.key.uses.append(frame.spot(expr.place))
        known = [constant_of(part) for part in inner.items]
        if not inner.open and not any(part.origins for part in inner.items):
            run.note_rivals(item, known)
        if (
            type(item) is Scalar
            and item.key is not None
            and not inner.open
            and not any(part.origins for part in inner.items)
        ):
            item.key.compared += [(part, part == name) for part in known]
        if name is not None and name in [part for part in known if part is not None]:
            return True
        if name is None or inner.open or None in known:
            return None
        return False
    if isinstance(inner, Scalar) and isinstance(inner.value, str) and isinstance(name, str):
        return name in inner.value
    if isinstance(inner, Instance):
        method = classes.member(inner.cls, "__contains__")
        if isinstance(method, FunctionObject):
            return truth(run.call(Call(frame, method.bound(inner), (item,), {}, frame.spot(expr.place))))
    return None
