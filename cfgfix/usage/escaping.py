"""Where a section of a config, or an object that holds one, goes to code that is not followed.

A key is dead only where every way of its section is known. What is not understood here makes the keys of that section
unsure, and of no other one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from cfgfix.code.inference.config_atoms import (
    CALLEES,
    OTHER,
    UNKNOWN,
    Atom,
    BoundMethod,
    ConfigObject,
    ObjectOf,
    Outside,
    Path,
    Role,
    names_outside,
)
from cfgfix.code.inference.config_values import AS_DICT
from cfgfix.code.inference.name_uses import NAMING
from cfgfix.code.inference.value_uses import HARMLESS, INERT_BASES, LOGGED, STORING, USED
from cfgfix.code.model.expressions import constant, dotted, is_name
from cfgfix.code.model.nodes import (
    Attribute,
    Call,
    Collection,
    Compare,
    Dictionary,
    Expr,
    Name,
    Starred,
    Subscript,
    Yield,
)
from cfgfix.code.model.summary import Event, Scope

if TYPE_CHECKING:
    from cfgfix.code.inference.config_atoms import Callee
    from cfgfix.code.inference.config_values import Follower
    from cfgfix.code.inference.name_uses import Loads
    from cfgfix.code.inference.value_uses import Uses
    from cfgfix.code.model.program import Program


class Collector(Protocol):
    """The parts of the collector of config reads that this module uses."""

    program: Program
    follower: Follower
    loads: Loads
    uses: Uses
    stored: dict[tuple[int, str], tuple[Scope, set[Path]]]

    def core(self, scope: Scope) -> bool:
        """Tell whether a scope belongs to the program itself, not to its tools."""

    def fate(self, expr: Expr, scope: Scope) -> str:
        """Return whether the value of an expression is used or only logged."""

    def follows(self, atom: Callee, role: Role) -> bool:
        """Tell whether an argument of a function or class is followed further."""

    def methods(self) -> dict[str, int]:
        """Return how many functions of the project have each name."""

    def used_whole(self, path: Path, fate: str, expr: Expr, scope: Scope) -> None:
        """Note that a section is used as a whole."""

    def whole_paths(self, expr: Expr, scope: Scope) -> set[Path]:
        """Return the sections that an expression stands for as a whole."""


SHOWING = frozenset(
    {
        "repr", "str", "hash", "len", "sorted", "json.dumps", "pickle.dumps", "pprint.pformat",
        "omegaconf.OmegaConf.to_yaml",
    }
)  # fmt: skip
"""Calls whose result says what a section holds: what becomes of the result counts."""
_DUMPING = frozenset({"yaml.dump", "yaml.safe_dump", "json.dump", "pickle.dump", "ruamel.yaml.dump", "omegaconf.OmegaConf.save"})  # fmt: skip
_STARTING = frozenset({"os.system", "os.popen", "os.execv", "os.execvp", "os.execvpe", "os.spawnv"})
_FRAMEWORKS = ("tensorflow.", "keras.", "tf_keras.", "numpy.", "torch.", "threading.", "multiprocessing.", "logging.", "abc.")  # fmt: skip
"""Packages that look at no attribute that a program's own class gives its objects."""
_FRAMEWORK_METHODS = frozenset(
    {
        "add", "append", "apply", "batch", "compile", "evaluate", "extend", "filter", "fit", "insert", "interleave", "join",
        "map", "predict", "put", "reduce", "remove", "submit",
    }
)  # fmt: skip
_OPTIONS = frozenset({"args", "arguments", "flags", "FLAGS", "namespace", "opt", "options", "opts", "parsed"})
"""Names of what a command line was parsed to: an attribute of that is an option."""
TAKING_ALL = frozenset({"popitem", "to_dict", "toDict", "as_dict", "model_dump", "dict", "__getitem__", "__iter__"})  # fmt: skip
"""Attributes of a section by which all of its keys are taken."""


def note_loose(found: Collector) -> None:
    """Note the whole use of sections in expressions that are not followed."""
    for expr, scope in found.loads.loose:
        paths = found.whole_paths(expr, scope)
        if not paths:
            continue
        parent, role = found.loads.around[id(expr)]
        if isinstance(parent, Event):
            if _is_followed(found, parent, role, scope, paths):
                continue
            fate = USED
        elif isinstance(parent, Starred):
            outer = found.loads.around.get(id(parent), (None, None))[0]
            if not isinstance(outer, Expr) or isinstance(outer, Call):
                continue
            fate = found.fate(outer, scope)
        elif isinstance(parent, Compare) and isinstance(constant(parent.left), str):
            continue
        elif isinstance(parent, Expr) and not isinstance(parent, Yield):
            fate = found.fate(parent, scope)
        else:
            fate = USED
        for path in paths:
            found.used_whole(path, fate, expr, scope)


def _is_followed(found: Collector, event: Event, role: Role, scope: Scope, paths: set[Path]) -> bool:
    """Tell whether a section is followed through a return or an assignment."""
    if event.kind == "return":
        return not (
            scope.kind == "lambda"
            or scope.generator
            or scope.is_async
            or (scope.name.startswith("__") and scope.name != "__init__")
            or (scope.name in found.follower.names.referenced() and scope.name not in STORING)
        )
    if role == "manager" or event.kind not in ("assign", "annotate"):
        return False
    for target in event.targets:
        if isinstance(target, Name) and target.name in scope.outer:
            return False
        if isinstance(target, Attribute) and not keeps(found, target.base, target.attribute, scope, paths):
            return False
    return True


def keeps(found: Collector, base: Expr, name: str, scope: Scope, paths: set[Path]) -> bool:
    """Tell whether a section stored as an attribute is followed from there.

    The section is noted as stored in the classes of the object.
    """
    atoms = found.follower.atoms_of(base, scope)
    if atoms and all(isinstance(atom, ConfigObject) for atom in atoms):
        return True
    if name == "__dict__":
        return False
    objects = [atom.scope for atom in atoms if isinstance(atom, ObjectOf)]
    owners = objects if len(objects) == len(atoms) else []
    for owner in owners:
        found.stored.setdefault((id(owner), name), (owner, set()))[1].update(paths)
    return bool(owners) and all(_keeps_attributes_to_itself(found, owner) for owner in owners)


def _keeps_attributes_to_itself(found: Collector, owner: Scope) -> bool:
    """Tell whether no outside base of a class reads the attributes of its objects."""
    return all(base in INERT_BASES or base.startswith(_FRAMEWORKS) for base in _outside_bases(found, owner))


def _outside_bases(found: Collector, owner: Scope) -> list[str]:
    """Return the names of a class's bases outside the project, `?` for unknown ones."""
    bases, names = found.program.bases(owner)
    for scope in bases:
        around = scope.module.summary.scopes[scope.parent] if scope.parent >= 0 else scope
        for base in scope.bases:
            stated = base.base if isinstance(base, Subscript) else base
            if found.program.static_value(stated, around) is None:
                names = [*names, dotted(stated) or "?"]
    return names


def note_stored(found: Collector) -> None:
    """Note the whole use of sections in attributes that unfollowed code may read."""
    for (_, name), (owner, paths) in found.stored.items():
        place: Expr = Name(name, owner.place)
        opened = found.uses.opened(owner, name, passed_on=False)
        away = opened is None or bool(opened) or found.uses.given_away(owner)
        for expr, where in () if away else found.loads.attributes.get(name, ()):
            parent, role = found.loads.around.get(id(expr), (None, None))
            if isinstance(parent, (Attribute, Subscript)) and role == "base":
                continue
            if (
                role == "func"
                or not found.core(where)
                or (isinstance(expr.base, Name) and expr.base.name in _OPTIONS)
            ):
                continue
            atoms = found.follower.atoms_of(expr.base, where)
            if (not atoms or UNKNOWN in atoms) and found.fate(expr, where) == USED:
                away = True
                break
        if away:
            for path in paths:
                found.used_whole(path, USED, place, owner)


def note_locals(found: Collector) -> None:
    """Note the whole use of sections in the local names that `locals()` takes."""
    for scope in found.loads.by_locals:
        place = scope.place
        names = {*found.follower.names.assignments(scope), *(param.name for param in scope.params)}
        for name in sorted(names):
            for path in found.whole_paths(Name(name, place), scope):
                found.used_whole(path, USED, Name(name, place), scope)


def find_given_away(found: Collector) -> None:
    """Find the classes whose objects are given to calls that are not followed."""
    for call in found.loads.calls.values():
        scope = found.loads.scope_of[id(call)]
        if not found.core(scope):
            continue
        pending: list[tuple[Expr, Any]] = [*((value, n) for n, value in enumerate(call.args))]
        pending += [(value, name if name is not None else "**") for name, value in call.keywords]
        inside = 0
        away: bool | None = None
        while pending and inside < 50:
            inside += 1
            value, role = pending.pop()
            if isinstance(value, Collection):
                pending += [(part, role) for part in value.items]
            elif isinstance(value, Dictionary):
                pending += [(part, role) for _, part in value.entries]
            elif isinstance(value, NAMING):
                owners = [
                    atom.scope for atom in found.follower.atoms_of(value, scope) if isinstance(atom, ObjectOf)
                ]
                if owners and away is None:
                    away = _goes_away(found, call, role, scope)
                if away:
                    found.uses.escaped.update((id(owner), owner) for owner in owners)


def _goes_away(found: Collector, call: Call, role: Role, scope: Scope) -> bool:
    func = call.func
    last = func.attribute if isinstance(func, Attribute) else func.name if isinstance(func, Name) else ""
    if last in _FRAMEWORK_METHODS or last in ("getattr", "setattr", "hasattr", "delattr"):
        return False
    if found.uses.logs(call, scope):
        return False
    callee = found.follower.atoms_of(func, scope)
    names = names_outside(callee)
    if names:
        callee = callee - {OTHER}
    callee = frozenset(_callee_of_object(found, atom) for atom in callee)
    if callee and all(isinstance(atom, Outside) for atom in callee):
        return not all(
            name in HARMLESS or name in AS_DICT or name == "super" or name.startswith(_FRAMEWORKS)
            for name in names
        )
    entered = [atom for atom in callee if isinstance(atom, CALLEES)]
    if callee and len(entered) == len(callee):
        return not all(found.follows(atom, role) for atom in entered)
    return not (isinstance(func, Attribute) and found.methods().get(func.attribute))


def _callee_of_object(found: Collector, atom: Atom) -> Atom:
    """Return the method that a call of an object runs, or any other callee unchanged."""
    if isinstance(atom, ObjectOf):
        for name in ("__call__", "call"):
            method = found.program.method(atom.scope, name)
            if method is not None:
                return BoundMethod(method, atom)
    return atom


def enters_outside(found: Collector, func: Expr, scope: Scope) -> bool:
    """Tell whether `super().method` may lead to a class outside the project."""
    if (
        not isinstance(func, Attribute)
        or not isinstance(func.base, Call)
        or not is_name(func.base.func, "super")
    ):
        return False
    owner = found.program.owner(scope)
    if owner is None:
        return True
    own = [
        base
        for base in found.program.bases(owner).classes
        if base is not owner and func.attribute in base.children
    ]
    return not own and any(base != "object" for base in _outside_bases(found, owner))


def fate_of_output(found: Collector, names: set[str], expr: Expr, scope: Scope) -> str:
    """Return whether the output of a call that shows a section is used or only logged."""
    if names & SHOWING:
        return found.fate(expr, scope)
    if names & {"type"} and isinstance(expr, Call) and len(expr.args) == 3:
        return USED
    if names & _DUMPING and _starts_programs(found, scope):
        return USED
    if "wandb.init" in names and any(
        any(
            isinstance(atom, Outside) and atom.name.startswith("wandb")
            for atom in found.follower.atoms_of(read.base, where)
        )
        for read, where in found.loads.attributes.get("config", ())
    ):
        return USED
    return LOGGED


def _starts_programs(found: Collector, scope: Scope) -> bool:
    """Tell whether a file starts other programs, which may read its output."""
    for other in scope.module.summary.scopes:
        for call in other.calls:
            for atom in (
                found.follower.atoms_of(call.func, other) if isinstance(call.func, (Name, Attribute)) else ()
            ):
                if isinstance(atom, Outside) and (
                    atom.name in _STARTING or atom.name.startswith("subprocess.")
                ):
                    return True
    return False
