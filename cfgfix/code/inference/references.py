"""The names of TensorFlow and Keras in a program: where they stand, and whether they are what they seem."""

from __future__ import annotations

from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import expects_absence
from cfgfix.code.model.expressions import constant, dotted, is_name, place_of, text, walk
from cfgfix.code.model.module import Module, absolute
from cfgfix.code.model.nodes import Attribute, Expr, Literal, Name, Place
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.tensorflow.api import Api, Presence, load
from cfgfix.code.tensorflow.requirement import Requirement
from cfgfix.core.records import dataclass

NEVER_IN_TWO = ("tensorflow.contrib", "tensorflow.examples")
"""Modules of TensorFlow 1 that `tf.compat.v1` does not have either (release notes of TensorFlow 2.0.0)."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A name of TensorFlow in the code.

    Attributes:
        raw: Its dotted name as imported.
        scope, place, block: Where it stands; the place is the whole dotted expression.
        expr: The expression, None for an import statement.
        presence: Where it is there.
    """

    raw: str
    scope: Scope
    place: Place
    block: int
    expr: Expr | None
    presence: Presence


@once
def api(program: Program) -> Api:
    """Return the table for the project's requirement."""
    return load(program.requirement)


def requirement_of(program: Program) -> Requirement:
    """Return the releases that the project of a program asks for."""
    return api(program).requirement


@once
def references(program: Program) -> list[Reference]:
    """Return every name of TensorFlow in the program that the table knows of."""
    found: list[Reference] = []
    table = api(program)
    if not table.admitted and not table.early:
        return found
    legacy = is_keras_2(program)
    known: dict[str, Presence | None] = {}
    for module in program.modules:
        rebound = _rebound_names(module)
        for scope in module.summary.scopes:
            for expr, block in scope.references:
                raw = program.static_name(expr, scope)
                if raw is None:
                    continue
                choice = _dotted_meanings(program, rebound, expr, scope, block) if rebound else None
                if choice:
                    # What has the name, or is not known to lack it, is what the code means where several may be meant.
                    raw = max(choice, key=lambda name: _releases_with(table.presence(name), table))
                if raw not in known:
                    known[raw] = table.presence(raw)
                presence = known[raw]
                if presence is not None and not (legacy and presence.name.startswith("keras.")):
                    found.append(Reference(raw, scope, expr.place, block, expr, presence))
            if not scope.imports:
                continue
            for event in scope.events():
                if event.kind != "import":
                    continue
                for _, source in event.imports:
                    if not source.startswith("tensorflow."):
                        continue
                    presence = table.presence(source)
                    if presence is not None and not (legacy and presence.name.startswith("keras.")):
                        found.append(Reference(source, scope, event.place, event.block, None, presence))
    return found


_Imports = dict[int, dict[str, list[tuple[Event, str]]]]


def _rebound_names(module: Module) -> _Imports:
    """Return the names that several imports bind in a module, by the scope's number."""
    found: _Imports = {}
    for scope in module.summary.scopes:
        if not scope.imports:
            continue
        names: dict[str, list[tuple[Event, str]]] = {}
        for event in scope.events():
            if event.kind == "import":
                for name, source in event.imports:
                    if name:
                        names.setdefault(name, []).append((event, source))
        several = {name: items for name, items in names.items() if len({source for _, source in items}) > 1}
        if several:
            found[scope.number] = several
    return found


def _dotted_meanings(program: Program, rebound: _Imports, expr: Expr, scope: Scope, block: int) -> list[str]:
    """Return the dotted names of an expression whose first name several imports bind.

    An import hides those before it, unless it stands in a branch that the expression is not in and may not have run.
    """
    head, _, rest = (dotted(expr) or "").partition(".")
    here: Scope | None = scope
    while here is not None and head not in here.imports:
        here = program.outer(here)
    found = rebound.get(here.number, {}).get(head) if here is not None else None
    if here is None or not found:
        return []
    around = {0}
    if here is scope:
        around.update(scope.block_numbers(block))
        place = place_of(expr, scope) or scope.place
        found = [item for item in found if item[0].place < place] or found
    sources: list[str] = []
    for event, source in found:
        if event.block in around:
            sources.clear()
        if source not in sources:
            sources.append(source)
    return [f"{name}.{rest}" if rest else name for name in (absolute(item, here.module) for item in sources)]


def _releases_with(presence: Presence | None, table: Api) -> int:
    """Return how many of the releases asked for have a name.

    A name that the table does not know counts for all.
    """
    return (table.admitted if presence is None else presence.mask & table.admitted).bit_count()


def _imports_package(program: Program, package: str) -> bool:
    return any(
        source.partition(".")[0] == package
        for module in program.modules
        for scope in module.summary.scopes
        for source in scope.imports.values()
    )


@once
def is_keras_2(program: Program) -> bool:
    """Tell whether the project asks for Keras 2 with any TensorFlow.

    It does so through `TF_USE_LEGACY_KERAS` or `tf_keras`.
    """
    return _asks_for_keras_two(program)


def _asks_for_keras_two(program: Program) -> bool:
    if program.requirement.keras_2 or _imports_package(program, "tensorflow_gnn"):
        # TensorFlow GNN refuses Keras 3 while it is imported (tensorflow_gnn 1.0.3, `_check_keras_version`).
        return True
    for module in program.modules:
        if "TF_USE_LEGACY_KERAS" not in module.summary.words and "tf_keras" not in module.summary.words:
            continue
        for scope in module.summary.scopes:
            if any(source.split(".")[0] == "tf_keras" for source in scope.imports.values()):
                return True
            for call in scope.calls:
                if any(
                    isinstance(item, Literal) and item.value == "TF_USE_LEGACY_KERAS" for item in call.args
                ):
                    return True
            if "environ" in module.summary.words:
                for event in scope.events():
                    if any("TF_USE_LEGACY_KERAS" in text(target) for target in event.targets):
                        return True
    return False


def absence_expected(reference: Reference, *, keras: bool = True) -> bool:
    """Tell whether a guard around a reference expects that its name may be missing."""
    return expects_absence(reference.scope, reference.block, reference.place, keras=keras)


def callers_ask(program: Program, scope: Scope, depth: int = 3) -> bool:
    """Tell whether all callers of a function test for a release or a name first.

    The answer is False where no caller is known.
    """
    if program.flow is None or scope.kind != "function" or depth == 0:
        return False
    sites = program.flow.callers(scope)
    return bool(sites) and all(
        expects_absence(site.scope, site.call.block, site.call.place, eager=False, tries=False)
        or callers_ask(program, site.scope, depth - 1)
        for site in sites
    )


def is_doubtful(program: Program, reference: Reference) -> bool:
    """Tell whether a name of TensorFlow may be something else, or is never looked up.

    It may be another name where its first part is bound in more than one way, or where the program sets it itself
    (`tf.tensor = tf.convert_to_tensor`); an annotation is not looked up under `from __future__ import annotations`.
    """
    return rebound(program, reference.raw, reference.expr, reference.scope)


def rebound(program: Program, raw: str, expr: Expr | None, scope: Scope) -> bool:
    """Tell whether a dotted name of TensorFlow may be something else.

    The program sets it, or binds its first part in more than one way, or it stands in an annotation. `expr` is the
    expression that has the name, None for an import statement.
    """
    if any(raw == name or raw.startswith(name + ".") for name in _set_by_program(program)):
        return True
    if expr is None:
        return False
    head = expr
    while isinstance(head, Attribute):
        head = head.base
    return isinstance(head, Name) and (
        _is_assigned(scope, head.name)
        or _in_annotation(expr, scope)
        or any(
            # `global tf; import tensorflow.compat.v1 as tf` in a function.
            head.name in item.outer and head.name in item.imports
            for item in scope.module.summary.scopes
        )
    )


@once
def _set_by_program(program: Program) -> set[str]:
    """Return the names of TensorFlow, Keras and NumPy that the program sets."""
    found: set[str] = set()
    for module in program.modules:
        for scope, _, target in module.stores():
            # What is set is an attribute of an import, and so a reference.
            name = program.static_name(target, scope) if scope.references else None
            if name is not None and name.startswith(("tensorflow.", "keras.", "numpy.")):
                found.add(name)
    for site in flow_of(program).named("builtins.setattr") if program.flow is not None else ():
        call = site.call
        if len(call.args) == 3:
            name = program.static_name(call.args[0], site.scope)
            last = constant(call.args[1])
            if (
                name is not None
                and name.startswith(("tensorflow", "keras", "numpy"))
                and isinstance(last, str)
            ):
                found.add(f"{name}.{last}")
    return found


def binder_of(scope: Scope, name: str) -> Scope | None:
    """Return the scope, from a given one outwards, that binds a name.

    None where no scope does.
    """
    here: Scope | None = scope
    while here is not None and name not in here.imports and name not in here.names:
        here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
    return here


def _is_assigned(scope: Scope, name: str) -> bool:
    """Tell whether the scope that imports a name assigns the name too."""
    here = binder_of(scope, name)
    return here is not None and any(
        is_name(target, name) for event in here.binding(name) for target in event.targets
    )


def is_bound_twice(scope: Scope, name: str) -> bool:
    """Tell whether the scope that binds a name does so more than once.

    Each source of an import, and each assignment, counts once.
    """
    here = binder_of(scope, name)
    if here is None:
        return False
    sources: set[str] = set()
    assigned = 0
    for event in here.binding(name):
        if event.kind == "import":
            sources.update(source for bound, source in event.imports if bound == name)
        elif any(is_name(target, name) for target in event.targets):
            assigned += 1
        if len(sources) + assigned > 1:
            return True
    return False


def _in_annotation(name: Expr, scope: Scope) -> bool:
    """Tell whether a name only stands in an annotation that Python does not evaluate."""
    later = any(
        item.get("annotations") == "__future__.annotations"
        for item in (here.imports for here in scope.module.summary.scopes)
    )

    def holds(expr: Expr | None) -> bool:
        return expr is not None and any(part is name for part in walk(expr))

    for event in scope.events():
        # The annotation of a local variable is never evaluated.
        if event.kind == "annotate" and (later or scope.kind == "function") and holds(event.annotation):
            return True
    return later and any(
        holds(inner.returns) or any(holds(annotation) for _, annotation, _, _ in inner.params)
        for inner in scope.module.summary.scopes
        if inner.kind == "function" and inner.parent == scope.number
    )


def public_name(name: str) -> str:
    """Return a name of the table as people write it: `tf.keras.Model`."""
    if name.startswith("keras"):
        return "tf." + name
    return "tf" + name[len("tensorflow") :]
