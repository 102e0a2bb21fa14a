"""Random numbers that are drawn only once where new ones are wanted."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import never_entered, only_value, short, value_named
from cfgfix.code.checks.models import kept_eager, switched_eager
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.hot_paths import ELEMENT, GRAPH, PYTHON, Reach, hot_paths
from cfgfix.code.inference.references import api
from cfgfix.code.model.expressions import MISSING, constant, dotted, is_name, is_same_expression, text, walk
from cfgfix.code.model.hit import hit_at
from cfgfix.code.model.nodes import Attribute, Call, Collection, Expr, Literal, Name
from cfgfix.code.model.program import Program, is_keras_part
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Constant, Items, Made, Many, Site, Value
from cfgfix.rules.hit import Hit

_PYTHON = ("numpy.random.", "random.")
_HARMLESS = (
    "numpy.random.seed",
    "random.seed",
    "numpy.random.get_state",
    "numpy.random.set_state",
    "random.getstate",
    "random.setstate",
)
_MAKERS = (
    "numpy.random.RandomState",
    "numpy.random.default_rng",
    "random.Random",
    "numpy.random.SeedSequence",
)


_SETS_UP = frozenset({"__init__", "build"})


def _random_draws(program: Program, kind: str) -> Iterator[tuple[Site, Reach]]:
    hot = hot_paths(program)
    for site in flow_of(program).under(*_PYTHON):
        name = site.name
        if name.startswith(_HARMLESS) or name in _MAKERS:
            continue
        if _is_seed(site):
            continue
        if (
            isinstance(site.call.func, Attribute)
            and isinstance(site.call.func.base, Call)
            and name.count(".") > 2
        ):
            # A method of what was drawn; the draw itself is told.
            continue
        reach = hot.reach_of(site, kind)
        if reach is None or hot.reach(site.scope, PYTHON) is not None:
            continue
        if any(scope.name in _SETS_UP for scope in (site.scope, *(step.scope for step in reach.path))):
            # What sets an object up runs once by rights.
            continue
        yield site, reach


def _is_seed(site: Site) -> bool:
    """Tell whether a random number is used as a seed."""
    scope = site.scope
    if "seed" in scope.name.lower():
        return True
    value = site.call
    for event in scope.events():
        if event.value == value and any("seed" in text(target).lower() for target in event.targets):
            return True
    return any(
        name is not None and "seed" in name and part == value
        for call in scope.calls
        for name, given in call.keywords
        for part in walk(given)
    )


def in_map(program: Program) -> Iterator[Hit]:
    """Find NumPy's or Python's random numbers in a map function.

    They are drawn once, while it is traced.
    """
    for site, reach in _random_draws(program, ELEMENT):
        yield hit_at(site, entry=reach, values={"call": short(site), "via": reach.via})


def in_function(program: Program) -> Iterator[Hit]:
    """Find NumPy's or Python's random numbers in a compiled function.

    They are drawn once, while it is traced.
    """
    hot = hot_paths(program)
    for site, reach in _random_draws(program, GRAPH):
        if hot.reach(site.scope, ELEMENT) is not None:
            continue
        if any(
            item.kind == "if" and item.test is not None and "eager" in text(item.test).lower()
            for item in site.scope.block_chain(site.call.block)
        ):
            # A mode that asks for eager steps draws in each of them.
            continue
        if (
            _is_unused(site)
            or _behind_own_count(site)
            or _is_joined_into_text(site)
            or kept_eager(program, reach.root.scope.module, always=True)
        ):
            continue
        if site.scope.name in ("build", "__init__") or any(
            target.scope.name in ("build", "__init__") for outer in reach.path for target in outer.targets
        ):
            continue
        yield hit_at(
            site,
            entry=reach,
            # A program that turns compiling off somewhere may draw in every call.
            severity="info"
            if any(True for _ in switched_eager(program)) or never_entered(program, reach.root.scope)
            else "warning"
            if _shuffles_functions(site)
            else None,
            values={"call": short(site), "via": reach.via},
        )


def _is_joined_into_text(site: Site) -> bool:
    """Tell whether a random draw is joined into a text, such as a name."""
    scope = site.scope
    return any(
        call.method == "join"
        and isinstance(call.receiver, Literal)
        and isinstance(call.receiver.value, str)
        and any(part is site.call for given in call.args for part in walk(given))
        for call in scope.calls
    )


def _shuffles_functions(site: Site) -> bool:
    """Tell whether a list is shuffled whose functions a loop then calls.

    Their order is fixed, not the numbers that they draw.
    """
    scope = site.scope
    if site.call.method != "shuffle" or not site.call.args or not isinstance(site.call.args[0], Name):
        return False
    name = site.call.args[0].name
    return any(
        event.kind == "for"
        and event.value is not None
        and is_name(event.value, name)
        and any(is_same_expression(call.func, target) for target in event.targets for call in scope.calls)
        for event in scope.events()
    )


def _behind_own_count(site: Site) -> bool:
    """Tell whether a random draw depends on a counter that its function changes.

    A compiled function counts while it is traced, so such a branch is rarely the one that is taken then.
    The fault is then the counter.
    """
    scope = site.scope
    counted = {
        text(target)
        for event in scope.events()
        if event.kind in ("assign", "augment")
        for target in event.targets
        if isinstance(target, Attribute)
    }
    return any(
        isinstance(part, Attribute) and text(part) in counted
        for item in scope.block_chain(site.call.block)
        if item.test is not None
        for part in walk(item.test)
    )


def _is_unused(site: Site) -> bool:
    """Tell whether a random number is assigned to a name that nothing reads."""
    scope = site.scope
    event = statement_of(scope, site.call.place)
    if (
        event is None
        or event.kind != "assign"
        or len(event.targets) != 1
        or not isinstance(event.targets[0], Name)
    ):
        return False
    name = event.targets[0].name
    shown = [
        part
        for other in scope.events()
        if other is not event
        for expr in (other.value, *other.targets, *other.managers)
        if expr is not None
        for part in walk(expr)
    ]
    inner = any(item.parent == scope.number for item in scope.module.summary.scopes)
    return not inner and name not in scope.outer and all(not is_name(part, name) for part in shown)


def constant_seed(program: Program) -> Iterator[Hit]:
    """Find stateless random operations with a constant seed in a map function.

    They give the same number for every element.
    """
    hot = hot_paths(program)
    for site in flow_of(program).under("tensorflow.random.stateless_", "tensorflow.image.stateless_random_"):
        name = site.name
        reach = hot.reach_of(site, ELEMENT)
        if reach is None:
            continue
        takes = api(program).calls.parameters(name)
        position = takes.positional.index("seed") if takes and "seed" in takes.positional else 1
        written = site.call.argument(position, "seed")
        if written is None or site.call.opaque:
            continue
        if (
            constant(written) is MISSING
            and not _is_of_numbers(site.argument(position, "seed"))
            and _whole_number(program, site, written) is None
        ):
            continue
        yield hit_at(site, entry=reach, values={"call": short(site), "via": reach.via})


def _is_of_numbers(value: Value | None) -> bool:
    """Tell whether a value is an integer, or a list or tensor of integers."""
    if isinstance(value, Many):
        return all(_is_of_numbers(item) for item in value.values)
    if isinstance(value, Items):
        return bool(value.items) and all(_is_of_numbers(item) for item in value.items)
    if isinstance(value, Made) and value.name in _TENSORS_OF and value.site is not None:
        return bool(value.site.args) and _is_of_numbers(value.site.args[0])
    return isinstance(value, Constant) and type(value.value) is int


_TENSORS_OF = frozenset({"tensorflow.constant", "tensorflow.convert_to_tensor", "numpy.array"})


_STATELESS = re.compile(
    r"keras\.random\.(?:normal|uniform|truncated_normal|randint|categorical|dropout|gamma|binomial|beta|shuffle)"
    r"|tensorflow\.random\.stateless_\w+"
)


def same_in_each_call(program: Program) -> Iterator[Hit]:
    """Find random draws of a layer or step that are the same in each call.

    A number for a seed leaves no state behind.
    """
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).under("keras.random.", "tensorflow.random.stateless_"):
        key = id(site.scope), site.call.number
        if not _STATELESS.fullmatch(site.name) or key in seen or written_for_one(program, site.scope):
            continue
        given = site.call.keyword("seed")
        if given is None and site.name.startswith("tensorflow."):
            given = site.call.argument(1, "seed")
        if given is None or site.call.opaque:
            continue
        seed = _whole_number(program, site, given)
        where = _again_and_again(program, site) if seed is not None else None
        if where is None:
            continue
        seen.add(key)
        yield hit_at(site, values={"call": short(site), "seed": seed, "where": where})


def _whole_number(program: Program, site: Site, given: Expr) -> str | None:
    """Return the text of a seed that is always the same integers.

    Return None for any other seed.
    """
    scope = site.scope
    if isinstance(given, Collection):
        parts = [_whole_number(program, site, item) for item in given.items]
        return f"({', '.join(part or '' for part in parts)})" if parts and all(parts) else None
    if isinstance(given, Literal):
        return str(given.value) if type(given.value) is int else None
    if isinstance(given, Attribute) and is_name(given.base, scope.params[0].name if scope.params else ""):
        owner = program.owner(scope)
        stored = [
            (where, event)
            for base in (program.bases(owner).classes if owner is not None else ())
            for where, event, target in base.module.stores()
            if target.attribute == given.attribute and program.owner(where) is base
        ]
        if len(stored) != 1 or stored[0][0].name != "__init__" or stored[0][1].value is None:
            return None
        return _number_of(program, stored[0][0], stored[0][1].value)
    if isinstance(given, Name):
        value = only_value(scope, given)
        if isinstance(value, (Literal, Collection)):
            return _whole_number(program, site, value)
        found = (
            None
            if any(item.name == given.name for item in scope.params)
            else value_named(program, scope, given.name)
        )
        if isinstance(found, Constant) and type(found.value) is int and given.name not in scope.names:
            return str(found.value)
        around = program.outer(scope)
        if around is not None and around.kind == "function" and given.name not in scope.names:
            return _number_of(program, around, given)
    return None


def _number_of(program: Program, where: Scope, value: Expr) -> str | None:
    """Return the integers that a value always has, as text, or None.

    A parameter has the number that every call gives it.
    """
    if isinstance(value, Collection):
        parts = [_number_of(program, where, item) for item in value.items]
        return f"({', '.join(part or '' for part in parts)})" if parts and all(parts) else None
    if isinstance(value, Literal):
        return str(value.value) if type(value.value) is int else None
    if not isinstance(value, Name):
        return None
    position = next((number for number, item in enumerate(where.params) if item.name == value.name), None)
    if position is None or where.binding(value.name):
        return None
    default = where.params[position].default
    offset = int(program.owner(where) is not None)
    found: set[str] = set()
    callers = flow_of(program).callers(where)
    for caller in callers:
        if caller.call.opaque:
            return None
        given = caller.call.argument(position - offset, value.name)
        if given is None:
            kept, inside_of = default, program.outer(where)
        else:
            kept, inside_of = given, caller.scope
        if isinstance(kept, Literal) and type(kept.value) is int:
            found.add(str(kept.value))
            continue
        known = (
            value_named(program, inside_of, kept.name)
            if isinstance(kept, Name) and inside_of is not None
            else None
        )
        if not isinstance(known, Constant) or type(known.value) is not int:
            return None
        found.add(str(known.value))
    return next(iter(found)) if len(found) == 1 else None


def _again_and_again(program: Program, site: Site) -> str | None:
    """Return in words what runs a random draw many times."""
    scope = site.scope
    owner = program.owner(scope)
    if owner is not None and scope.name in ("call", "train_step") and is_keras_part(program, owner):
        return f"each call of {owner.name}" if scope.name == "call" else "each training step"
    if any((dotted(call.func) or "").rpartition(".")[2] == "GradientTape" for call in scope.calls):
        return "each training step"
    if owner is None or not is_keras_part(program, owner) or scope.name in _SETS_UP:
        return None
    calls_it = [
        caller.scope.name
        for caller in flow_of(program).callers(scope)
        if program.owner(caller.scope) is owner
    ]
    return f"each call of {owner.name}" if "call" in calls_it else None
