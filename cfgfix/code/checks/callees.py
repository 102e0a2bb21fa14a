"""Which class or library the callee of a call may be of."""

from __future__ import annotations

from cfgfix.code.model.expressions import is_name
from cfgfix.code.model.nodes import Attribute, Call, Expr, Name
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.values import UNKNOWN, External, Made, Site, alternatives


def base_constructor(program: Program, site: Site) -> str | None:
    """Return the Keras or TensorFlow class that `super().__init__()` calls, or None.

    Only where the class has no other base that may come first.
    """
    name, _, method = site.name.rpartition(".")
    func = site.call.func
    if method != "__init__" or not isinstance(func, Attribute) or not isinstance(func.base, Call):
        return None
    owner = program.owner(site.scope)
    if owner is None or not is_name(func.base.func, "super") or len(owner.bases) != 1:
        return None
    classes, outside = program.bases(owner)
    return name if len(classes) == 1 and outside == [name] else None


def may_be_of_another_library(site: Site) -> bool:
    """Tell whether a method's receiver may be an object of another library.

    For instance, an attribute may hold several kinds of values.
    """
    return any(
        value is UNKNOWN
        or (isinstance(value, (Made, External)) and not value.name.startswith(("keras.", "tensorflow.")))
        for value in alternatives(site.receiver)
    )


def may_be_overridden(program: Program, site: Site) -> bool:
    """Tell whether a called method may be overridden by a project class.

    It may where an object calls the method on itself, where only an annotation tells the object's class,
    and always for `call` of a model.
    """
    func = site.call.func
    if not isinstance(func, Attribute) or not (
        func.attribute == "call" or func.attribute in methods(program)
    ):
        return False
    params = site.scope.params
    if isinstance(func.base, Name) and params and func.base.name == params[0].name:
        return True
    return any(isinstance(value, Made) and value.site is None for value in alternatives(site.receiver))


@once
def methods(program: Program) -> frozenset[str]:
    """Return the names of all methods of the program's classes, found once."""
    return frozenset(
        scope.name
        for module in program.modules
        for scope in module.summary.scopes
        if scope.kind == "function" and program.owner(scope) is not None
    )


def head(expr: Expr) -> str:
    """Return the first name of a dotted expression, or empty text."""
    while isinstance(expr, Attribute):
        expr = expr.base
    return str(expr.name) if isinstance(expr, Name) else ""
