"""Calls that do not fit their callee: wrong arguments, abstract classes and so on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.callees import head, may_be_of_another_library, may_be_overridden
from cfgfix.code.inference.eras import (
    release_in_words,
    severity_by_keras_releases,
    severity_by_releases,
    written_for_one,
)
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.references import api, is_bound_twice, is_keras_2, public_name
from cfgfix.code.inference.releases import as_written, keras_of_release, modules_of_keras_2
from cfgfix.code.model.canonical_names import canonical_name
from cfgfix.code.model.expressions import dotted, place_of, text
from cfgfix.code.model.hit import Calls as Entered
from cfgfix.code.model.hit import Rewrite, hit_in
from cfgfix.code.model.nodes import Attribute, Expr, Name, Starred
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import External, Made, Site, alternatives
from cfgfix.code.tensorflow.calls import Calls, Parameters, load
from cfgfix.core.records import dataclass
from cfgfix.core.suggest import only_match
from cfgfix.rules.hit import Hit

_TYPES = frozenset(
    f"tensorflow.{name}"
    for name in (
        "bfloat16", "bool", "complex64", "complex128", "double", "float16", "float32", "float64", "half", "int8", "int16", "int32", "int64",
        "string", "uint8", "uint16", "uint32", "uint64",
    )
)  # fmt: skip
_OF_TYPES = re.compile(
    r"(?i).*(?:dtype|type|tout|types)s?|T|x|tensor|input|value|values|inputs|arg\w*|src|dst|key|a|b|y"
)
"""Parameters at which a type may stand: those of types, and those that take anything."""


def passed_over(program: Program, _: object) -> frozenset[int]:
    """Return the ids of the modules that a check of this group skips."""
    return modules_of_keras_2(program)


@once
def table_of(_: Program) -> Calls:
    """Return the table of calls, read once."""
    return load()


def misfit(program: Program) -> Iterator[Hit]:
    """Find calls whose arguments cannot be bound to the parameters."""
    releases = api(program)
    if releases.silent:
        return
    calls = table_of(program)
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).sites:
        key = id(site.scope), site.call.number
        if site.targets or site.open or key in seen or not site.name.startswith(("tensorflow.", "keras.")):
            continue
        seen.add(key)
        if ".compat.v1" in site.raw or ".contrib." in site.raw or ".python." in site.raw:
            continue
        found = next(_argument_faults(program, calls, site), None)
        if found is None:
            continue
        if site.name not in calls.abstract and written_for_one(program, site.scope):
            # TensorFlow 1 makes no object of an abstract class either.
            continue
        if is_bound_twice(site.scope, head(site.call.func)) or _other_than_a_module(site):
            continue
        yield hit_in(
            site.scope,
            (place_of(found.at, site.scope) if found.at is not None else None) or site.call.name_place,
            site.call.block,
            entry=Entered(site),
            values={
                "name": as_written(program, site.scope, site.name)
                if site.name.startswith("keras.")
                else public_name(site.name),
                "says": f"{found.says}: the call raises" if found.raises else found.says,
                "asked": release_in_words(releases),
            },
            severity="warning"
            if not found.raises
            else "error"
            if found.always
            else severity_by_releases(releases, "warning")
            if releases.requirement.admits_tf1()
            else (severity_by_keras_releases if site.name.startswith("keras.") else severity_by_releases)(
                releases, "warning"
            ),
            rewrites=(
                Rewrite("rename-keyword", site.scope, site.call.place, found.renamed[1], found.renamed[0]),
            )
            if found.renamed is not None
            else (),
        )


def _other_than_a_module(site: Site) -> bool:
    """Tell whether a method's receiver may be an object of another library."""
    return may_be_of_another_library(site) and not (
        isinstance(site.receiver, External) and site.receiver.name == "tensorflow"
    )


@dataclass(frozen=True, slots=True)
class _ArgumentFault:
    """A fault in the arguments of a call.

    Attributes:
        says: What is wrong, in words.
        at: Where it stands, if not at the call.
        renamed: A name of an argument and the one that it becomes.
        raises: Whether the call raises by it.
        always: Whether it is known to do so in each release that may be meant.
    """

    says: str
    at: Expr | None = None
    renamed: tuple[str, str] | None = None
    raises: bool = True
    always: bool = False


def _argument_faults(program: Program, calls: Calls, site: Site) -> Iterator[_ArgumentFault]:
    """Yield the faults in the arguments of a call."""
    call = site.call
    name = site.name
    if name in calls.abstract:
        yield _ArgumentFault("is abstract: no object of it can be made, only its functions called")
        return
    known = api(program).constructor(name)
    by_position = sum(1 for item in call.args if not isinstance(item, Starred))
    starred = by_position != len(call.args)
    given = [key for key, _ in call.keywords if key is not None]
    if given:
        yield from _given_twice(program, site, by_position, starred, given)
    if not starred:
        yield from _too_many_or_few(program, site, by_position, given)
    parameters = calls.parameters(name)
    if parameters is None or name.startswith("keras."):
        return
    if not starred:
        for key in given:
            if key in parameters.positional[:by_position]:
                yield _ArgumentFault(f"is given `{key}` twice, by position and by name", call.keyword(key))
        if by_position > len(parameters.positional) and not parameters.more and known is None:
            yield _ArgumentFault(
                f"takes {len(parameters.positional)} arguments by position and is given {by_position}",
                call.args[len(parameters.positional)],
            )
    if known is None and not parameters.any_name:
        yield from _unknown_arguments(parameters, site, given)
    if not call.opaque and not starred:
        for key in parameters.required:
            if key not in given and key not in parameters.positional[:by_position]:
                yield _ArgumentFault(f"is not given `{key}`, which it needs")
        yield from _dtype_faults(parameters, site)


def _too_many_or_few(
    program: Program, site: Site, by_position: int, given: list[str]
) -> Iterator[_ArgumentFault]:
    """Yield the fault of a call with too many positional arguments or missing ones."""
    releases = api(program)
    name = _known_by_release(program, site)
    if name is None or releases.constructor(name) is None:
        return
    most = releases.most_by_position(name, releases.newest)
    if most is not None and by_position > most:
        every = releases.most_by_position(name, releases.admitted)
        yield _ArgumentFault(
            f"takes {most or 'no'} argument{'' if most == 1 else 's'} by position and is given {by_position}",
            site.call.args[most],
            always=every is not None and by_position > every,
        )
        return
    if site.call.opaque or releases.unknown_arguments(name, given):
        # A misspelt name may be meant for the one that is lacking.
        return
    lacking = releases.lacking(name, releases.newest, by_position, given)
    if lacking:
        always = releases.lacking(name, releases.admitted, by_position, given)
        names = " and ".join(f"`{key}`" for key in lacking)
        yield _ArgumentFault(f"is not given {names}, which it needs", always=lacking[0] in always)


def _known_by_release(program: Program, site: Site) -> str | None:
    """Return the name under which a callee's signature is stored by release.

    None where another callable may be meant.
    """
    name = site.name
    if not name.startswith("keras."):
        return name
    if is_keras_2(program) or not keras_of_release(program, site.scope) or may_be_overridden(program, site):
        return None
    owner, _, method = name.rpartition(".")
    if name in ("keras.Model.loss", "keras.Model.compiled_loss"):
        # `compile` puts the loss that it was given in the place of the method.
        return None
    return f"keras.Model.{method}" if owner == "keras.Sequential" else name


def _given_twice(
    program: Program, site: Site, by_position: int, starred: bool, given: list[str]
) -> Iterator[_ArgumentFault]:
    """Yield arguments given both by position and by name, in every release at hand."""
    releases = api(program)
    name = _known_by_release(program, site)
    known = releases.constructor(name) if name is not None else None
    if known is None or starred or not releases.admitted:
        return
    bits = [1 << number for number in range(len(releases.versions)) if releases.admitted >> number & 1]
    orders = [known.positions(bit) for bit in bits]
    if not all(orders):
        return
    for key in given:
        if all(key in order[:by_position] for order in orders):
            yield _ArgumentFault(f"is given `{key}` twice, by position and by name", site.call.keyword(key))


def _unknown_arguments(parameters: Parameters, site: Site, given: list[str]) -> Iterator[_ArgumentFault]:
    for key in given:
        if key not in parameters.named:
            left = sorted(parameters.named - set(given))
            near = only_match(key, left)
            yield _ArgumentFault(
                f"has no parameter `{key}`" + (f" (did you mean `{near}`?)" if near else ""),
                site.call.keyword(key),
                (key, near) if near else None,
            )


def _dtype_faults(parameters: Parameters, site: Site) -> Iterator[_ArgumentFault]:
    """Yield faults for a dtype given by position where the parameter is another one."""
    for position, expr in enumerate(site.call.args):
        if position >= len(parameters.positional) or position >= len(site.args):
            return
        parameter = parameters.positional[position]
        value = site.args[position]
        if _OF_TYPES.fullmatch(parameter) or parameter in parameters.required:
            continue
        if (
            isinstance(value, External)
            and canonical_name(value.name) in _TYPES
            and "dtype" in parameters.named
        ):
            yield _ArgumentFault(
                f"has `{parameter}` at position {position + 1}, where {text(expr)} stands: `dtype` goes by name",
                expr,
                raises=False,
            )


def entered_class(program: Program) -> Iterator[Hit]:
    """Find `with` statements of a class or function that must be called first."""
    calls = table_of(program)
    for module in program.modules:
        for scope in module.summary.scopes:
            for event in scope.events():
                for expr in event.managers:
                    shown = _uncalled_manager(program, calls, scope, expr)
                    place = place_of(expr, scope)
                    if shown is None or place is None or written_for_one(program, scope):
                        continue
                    yield hit_in(
                        scope,
                        place,
                        event.block,
                        {"name": dotted(expr) or "", "what": shown},
                        rewrites=(Rewrite("replace", scope, place, f"{text(expr)}()"),)
                        if shown in _WITHOUT_ARGUMENTS
                        else (),
                    )


_WITHOUT_ARGUMENTS = frozenset({"the class tf.GradientTape", "the method scope of a strategy"})


def _uncalled_manager(program: Program, calls: Calls, scope: Scope, expr: Expr) -> str | None:
    """Return in words the class or function that a `with` enters uncalled, or None."""
    if not isinstance(expr, (Name, Attribute)):
        return None
    if isinstance(expr, Attribute) and expr.attribute == "scope":
        owners = alternatives(flow_of(program).value_of_name(scope, expr.base))
        if owners and all(
            isinstance(item, Made)
            and item.name.startswith("tensorflow.distribute.")
            and item.name.endswith("Strategy")
            for item in owners
        ):
            return "the method scope of a strategy"
    found = alternatives(flow_of(program).value_of_name(scope, expr))
    if len(found) != 1 or not isinstance(found[0], External):
        return None
    name = canonical_name(found[0].name)
    if name in calls.entered or name in (
        "tensorflow.device",
        "tensorflow.control_dependencies",
        "tensorflow.init_scope",
    ):
        return (
            f"the class {public_name(name)}" if name in calls.entered else f"the function {public_name(name)}"
        )
    return None


_DECORATORS = frozenset(
    {
        "keras.utils.register_keras_serializable",
        "keras.saving.register_keras_serializable",
        "tensorflow.RegisterGradient",
    }
)
"""What is called to make a decorator."""


def uncalled_decorator(program: Program) -> Iterator[Hit]:
    """Find decorators that must be called first, and are not."""
    for module in program.modules:
        for scope in module.summary.scopes:
            outer = program.outer(scope)
            if outer is None:
                continue
            for decorator in scope.decorators:
                if not isinstance(decorator, (Name, Attribute)):
                    continue
                if canonical_name(program.static_name(decorator, outer) or "") not in _DECORATORS:
                    continue
                place = place_of(decorator, outer)
                if place is None:
                    continue
                yield hit_in(
                    outer,
                    place,
                    scope.block,
                    {
                        "decorator": text(decorator),
                        "kind": "class" if scope.kind == "class" else "function",
                        "what": scope.name,
                    },
                    rewrites=(Rewrite("replace", outer, place, f"{text(decorator)}()"),)
                    if not text(decorator).endswith("RegisterGradient")
                    else (),
                )


def misspelt_member(program: Program) -> Iterator[Hit]:
    """Find methods that a class lacks while it has a method of nearly that name."""
    releases = api(program)
    if releases.silent and not releases.early:
        return
    calls = table_of(program)
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).sites:
        func = site.call.func
        key = id(site.scope), site.call.number
        if not isinstance(func, Attribute) or site.targets or site.open or key in seen:
            continue
        if ".compat.v1" in site.raw or not site.name.startswith(("tensorflow.", "keras.")):
            continue
        seen.add(key)
        owner = site.name.rpartition(".")[0]
        family = _class_family(owner)
        if family is None or not _one_of(site, owner):
            continue
        members = _member_names(program, calls, family)
        if func.attribute in members or func.attribute.startswith(
            "_" if not releases.early else ("_", "experimental")
        ):
            continue
        near = only_match(func.attribute, members)
        if (
            near is None
            or func.attribute in _stored_attributes(program)
            or written_for_one(program, site.scope)
        ):
            continue
        yield hit_in(
            site.scope,
            site.call.name_place,
            site.call.block,
            entry=Entered(site),
            values={"member": func.attribute, "owner": public_name(family), "near": near},
            rewrites=(Rewrite("rename", site.scope, func.place, near),),
        )


@once
def _stored_attributes(program: Program) -> frozenset[str]:
    """Return the attributes that the project gives to objects or classes.

    `tf.Tensor.astype = tf.cast` adds a method.
    """
    return frozenset(
        target.attribute
        for module in program.modules
        for scope in module.summary.scopes
        for event in scope.events()
        for target in event.targets
        if isinstance(target, Attribute)
    )


_FAMILIES = (
    (re.compile(r"tensorflow\.distribute\.(?:experimental\.)?\w*Strategy"), "tensorflow.distribute.Strategy"),
    (re.compile(r"keras\.Sequential|keras\.Model"), "keras.Model"),
    (re.compile(r"keras\.optimizers\.[A-Z]\w*"), "keras.optimizers.Optimizer"),
    (
        re.compile(r"keras\.(?:Layer|Model|layers\.\w+|metrics\.\w+)\.add_(?:weight|variable)"),
        "tensorflow.Variable",
    ),
    (re.compile(r"tensorflow\.(?:Variable|GradientTape|TensorArray|train\.CheckpointManager)"), ""),
)
"""Classes by their names, and the class of the table that has their members; empty for a class with a list of its own."""


def _class_family(owner: str) -> str | None:
    for pattern, family in _FAMILIES:
        if pattern.fullmatch(owner):
            return family or owner
    return None


def _one_of(site: Site, owner: str) -> bool:
    """Tell whether a method's receiver is always an object of one class."""
    found = alternatives(site.receiver)
    return bool(found) and all(isinstance(item, Made) and item.name == owner for item in found)


_OF_KERAS = frozenset(
    {"aggregation", "assign", "assign_add", "assign_sub", "autocast", "constraint", "initializer", "layout", "ndim", "numpy", "overwrite_with_gradient", "path", "regularizer", "value"}
)  # fmt: skip
"""Members of Keras's own variables (Keras 3.15.1, `keras/src/backend/common/variables.py`)."""


def _member_names(program: Program, calls: Calls, family: str) -> frozenset[str]:
    """Return the member names of a class, over all releases."""
    own = calls.members(family)
    if own is not None:
        # A weight of a layer is a variable of Keras, which has these as well.
        return own | _OF_KERAS if family == "tensorflow.Variable" else own
    names = api(program).members(family)
    if family == "tensorflow.distribute.Strategy":
        names |= calls.members("tensorflow.distribute.MirroredStrategy") or frozenset()
    return names
