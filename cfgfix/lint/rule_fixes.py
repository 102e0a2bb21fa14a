"""The fixes of declarative rules: the first whose condition holds, as far as the code allows it."""

from __future__ import annotations

from cfgfix.config.dialects.view import Binding, RuleScope, View
from cfgfix.core.edits import Change, DeleteKey, Fix, InsertKey, RenameKey, Safety, SetValue
from cfgfix.core.findings import KeyPath, format_key_path
from cfgfix.core.records import replace
from cfgfix.rules.expression import Code, Missing, evaluate
from cfgfix.rules.rule import FixSpec, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.config.dialects.parameters import Reached


def as_far_as_code_allows(fix: Fix, reached: Reached, view: View) -> tuple[Fix | None, str | None]:
    """Return a key's fix, made unsafe or left out if the code uses the key for more.

    A text instead of the fix says why the fix is left out.

    Args:
        fix: The fix of a key.
        reached: The library parameter that the key's value reaches.
        view: The document, with what the code says of its keys.
    """
    assert view.meanings is not None
    others = [other.call_text for other in view.meanings.also(reached)]
    if others:
        return None, f"the key is also {others[0]}, which a new value would change as well"
    if not reached.alone and fix.safety is Safety.SAFE:
        return replace(fix, safety=Safety.UNSAFE), None
    return fix, None


def is_true(code: Code, scope: RuleScope) -> bool:
    """Tell whether a condition holds; one with an unknown operand does not."""
    try:
        return bool(evaluate(code, scope))
    except Missing:
        return False


def first_fix(rule: Rule, view: View, binding: Binding, scope: RuleScope) -> tuple[Fix | None, str | None]:
    """Return the first fix of a rule whose condition holds, or why there is none."""
    reason = rule.no_fix
    for spec in rule.fixes:
        if spec.when is not None and not is_true(spec.when, scope):
            continue
        try:
            change = _change_by_spec(spec, view, binding, scope)
        except Missing as missing:
            reason = reason or (f"{missing.name or 'a value it needs'} is unknown")
            continue
        return Fix(str(spec.title(scope)), spec.safety, (change,), spec.why), None
    return None, reason


def _change_by_spec(spec: FixSpec, view: View, binding: Binding, scope: RuleScope) -> Change:
    """Return the change to the document that a fix of a rule file describes.

    Raises:
        Missing: A value it needs is unknown, or the place cannot be named.
    """
    place = binding if spec.target == "value" else next(iter(view.bindings(spec.target)), None)
    path = _first_path(view, spec.target) if place is None or place.path is None else place.path
    present = place is not None and place.node is not None
    if spec.action == "delete":
        if not present:
            raise Missing(spec.target)
        return DeleteKey(path, document=view.index)
    assert spec.to is not None
    value = evaluate(spec.to, scope)
    if spec.action == "rename":
        if not present or not isinstance(value, str):
            raise Missing(spec.target)
        return RenameKey(path, value, document=view.index)
    text = str(spec.text(scope)) if spec.text is not None else None
    if present:
        return SetValue(path, value, text, document=view.index)
    key = path[-1]
    if not isinstance(key, str) or (len(path) > 1 and not any(True for _ in view.places(path[:-1]))):
        raise Missing(f"section {format_key_path(path[:-1])}")
    beside = binding.path if binding.node is not None and binding.path is not None else ()
    after = beside[-1] if beside[:-1] == path[:-1] and beside and isinstance(beside[-1], str) else None
    return InsertKey(path[:-1], key, value, after, view.index)


def _first_path(view: View, concept: str) -> KeyPath:
    for pattern in view.dialect.concepts.get(concept, ()):
        path = tuple(step for step in pattern if isinstance(step, str))
        if len(path) == len(pattern):
            return path
    raise Missing(concept)
