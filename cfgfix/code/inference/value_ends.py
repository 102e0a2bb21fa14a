"""Where a value ends: followed from where it is read through names, arguments, attributes and results."""

from __future__ import annotations

from collections.abc import Iterable

from cfgfix.code.inference.config_atoms import (
    CALLEES,
    OTHER,
    UNKNOWN,
    BoundMethod,
    Callee,
    ClassItself,
    ObjectOf,
    Path,
    PlainFunction,
    Role,
    names_outside,
)
from cfgfix.code.inference.config_values import AS_DICT
from cfgfix.code.inference.name_uses import Default
from cfgfix.code.inference.value_uses import (
    COPIED,
    HARMLESS,
    INERT_BASES,
    KEEPING,
    LOGGED,
    NO_GUARDS,
    PASSING,
    STORING,
    USED,
    Guards,
    Uses,
    parameters,
)
from cfgfix.code.model.expressions import constant, dotted, is_name, place_of
from cfgfix.code.model.nodes import (
    Assigned,
    Attribute,
    Boolean,
    Call,
    Collection,
    Comprehension,
    Conditional,
    Expr,
    FString,
    Literal,
    Name,
    Place,
    Starred,
    Subscript,
    Yield,
)
from cfgfix.code.model.summary import Event, Scope
from cfgfix.core.records import dataclass

MAX_VISITS = 4_000
"""Places one value is followed to; beyond it the value counts as used."""
_ADDING = frozenset({"append", "add", "extend", "update", "insert", "setdefault", "appendleft"})


@dataclass(frozen=True, slots=True)
class End:
    """Where a value ends.

    Attributes:
        kind: `used`, `logged`, or `copied` where the key itself is given its value again.
        scope: The scope of the place.
        place: Its span.
        guards: What must hold for it to be reached.
    """

    kind: str
    scope: Scope
    place: Place
    guards: Guards


class _ValueTrace:
    """Follows one value, or several, through a program to where they end."""

    def __init__(self, uses: Uses, origin: Path, *, whole: bool = False) -> None:
        self.whole = whole
        self.uses = uses
        self.follower = uses.follower
        self.loads = uses.loads
        self.origin = origin
        self.best: dict[tuple[str, int, str], Guards] = {}
        self.pending: list[tuple[Expr, Scope, Guards]] = []
        self.found: dict[tuple[int, Place, str], End] = {}
        self.visits = 0

    def begin(self, expr: Expr, scope: Scope) -> None:
        self.pending.append((expr, scope, self.uses.entry(scope)))

    def run(self) -> list[End]:
        aside = self.uses.aside
        inside = not self.pending or any(scope.module.path not in aside for _, scope, _ in self.pending)
        while self.pending:
            expr, scope, guards = self.pending.pop()
            if inside and scope.module.path in aside:
                self.end(USED, scope, expr, guards)
                continue
            self.visits += 1
            if self.visits > MAX_VISITS:
                self.end(USED, scope, expr, NO_GUARDS)
                break
            self.climb(expr, scope, guards)
        return list(self.found.values())

    def end(self, kind: str, scope: Scope, expr: Expr, guards: Guards) -> None:
        place = place_of(expr, scope) or scope.place
        key = (id(scope), place, kind)
        known = self.found.get(key)
        if known is not None:
            guards = guards & known.guards
        self.found[key] = End(kind, scope, place, guards)

    def climb(self, expr: Expr, scope: Scope, guards: Guards) -> None:
        """Follow a value outwards from its expression, until it ends or is handed on."""
        here = expr
        for _ in range(200):
            around = self.loads.around.get(id(here))
            if around is None:
                self.end(USED, scope, expr, guards)
                return
            parent, role = around
            if isinstance(parent, Event):
                self.statement(here, parent, role, scope, guards, expr)
                return
            if isinstance(parent, Default):
                self.slot(("v", parent.scope, parent.name), guards)
                return
            if parent is None:
                if role != "lambda":
                    self.end(USED, scope, expr, guards)
                return
            if isinstance(parent, Call):
                call = parent
                guards = guards | self.uses.guards(scope, call.block)
                if not self.argument(here, call, role, scope, guards, expr):
                    return
            elif self.decides(here, parent, role, scope):
                self.end(USED, scope, expr, guards)
                return
            elif isinstance(parent, Conditional) and role in ("then", "else"):
                guards = guards | self.uses.tested(parent.test, role == "then", scope)
            elif isinstance(parent, Boolean) and isinstance(role, int) and role:
                for before in parent.operands[:role]:
                    guards = guards | self.uses.tested(before, parent.operator == "and", scope)
            elif isinstance(parent, Assigned):
                self.slot(("v", scope, parent.name), guards)
            elif isinstance(parent, Yield):
                self.end(USED, scope, expr, guards)
                return
            here = parent
        self.end(USED, scope, expr, guards)

    def decides(self, here: Expr, parent: Expr, role: Role, scope: Scope) -> bool:
        """Tell whether a part of an expression decides if another part with effects runs."""
        if isinstance(parent, Conditional) and role == "test":
            after: Iterable[Expr] = (parent.then, parent.otherwise)
        elif isinstance(parent, Boolean) and isinstance(role, int):
            after = parent.operands[role + 1 :]
        elif isinstance(parent, Comprehension):
            parts = parent.parts
            after = parts[next((n for n, part in enumerate(parts) if part is here), len(parts)) + 1 :]
        else:
            return False
        return not all(self.uses.idle(part, scope) for part in after)

    def statement(
        self, here: Expr, event: Event, role: Role, scope: Scope, guards: Guards, expr: Expr
    ) -> None:
        guards = guards | self.uses.guards(scope, event.block)
        kind = event.kind
        if role == "owner":
            # The value is an object that something is stored in: a container of one's own is no use of it.
            return
        if role == "augmented":
            # `x += 1` gives the name itself a new value; what becomes of it is found where the name is loaded.
            if not isinstance(here, (Name, Attribute)):
                self.end(USED, scope, expr, guards)
            return
        if role == "value" and kind in ("assign", "annotate", "augment"):
            for target in event.targets:
                self.target(target, scope, guards, expr)
            return
        if role == "value" and kind == "return":
            self.slot(("r", scope, ""), guards)
            return
        if role == "value" and kind == "expr":
            return
        if kind in ("if", "for") and role == "value":
            bodies = [item for _, body in event.bodies for item in body]
            if self.uses.inert(bodies, scope, self.origin):
                self.end(LOGGED, scope, expr, guards)
                return
            targets = self.uses.decided(bodies, scope, self.origin) if kind == "if" else None
            if targets is None:
                self.end(USED, scope, expr, guards)
                return
            for target in targets:
                self.target(target, scope, guards, expr)
            return
        if kind == "raise" or role == "message":
            self.end(LOGGED, scope, expr, guards)
            return
        if kind == "delete" and role != "index":
            return
        self.end(USED, scope, expr, guards)

    def target(self, target: Expr, scope: Scope, guards: Guards, expr: Expr) -> None:
        if isinstance(target, Collection):
            for item in target.items:
                self.target(item, scope, guards, expr)
            return
        if isinstance(target, Starred):
            self.target(target.value, scope, guards, expr)
            return
        found = self.uses.access(target)
        if found is not None and isinstance(target, (Attribute, Subscript)):
            atoms = self.follower.atoms_of(found.base, scope)
            paths = self.uses.paths_of(atoms)
            if paths:
                own = all((*path, found.name) == self.origin for path in paths)
                self.end(COPIED if own else USED, scope, expr, guards)
                return
        if isinstance(target, Name):
            if scope.kind == "class":
                self.slot(("a", scope, target.name), guards)
            elif target.name in scope.outer:
                self.end(USED, scope, expr, guards)
            else:
                self.slot(("v", scope, target.name), guards)
            return
        if isinstance(target, Attribute):
            owners = self.owners(target.base, scope)
            if not owners:
                self.end(USED, scope, expr, guards)
            for owner in owners:
                self.slot(("a", owner, target.attribute), guards)
            return
        if isinstance(target, Subscript):
            self.container(target.base, scope, guards, expr)
            return
        self.end(USED, scope, expr, guards)

    def owners(self, base: Expr, scope: Scope) -> list[Scope]:
        """Return the classes whose objects an expression may be; none if not known."""
        atoms = self.follower.atoms_of(base, scope)
        objects = [atom.scope for atom in atoms if isinstance(atom, ObjectOf)]
        return objects if len(objects) == len(atoms) else []

    def container(self, base: Expr, scope: Scope, guards: Guards, expr: Expr) -> None:
        """Follow the container that the value is put in."""
        while isinstance(base, Subscript):
            base = base.base
        if isinstance(base, Name) and self.uses.given(base.name, scope) is not None:
            given = self.uses.given(base.name, scope)
            assert given is not None
            if given[1].kind == "function":
                self.slot(("v", given[1], base.name), guards)
                return
        if isinstance(base, Attribute):
            owners = self.owners(base.base, scope)
            for owner in owners:
                self.slot(("a", owner, base.attribute), guards)
            if owners:
                return
        self.end(USED, scope, expr, guards)

    def argument(self, here: Expr, call: Call, role: Role, scope: Scope, guards: Guards, expr: Expr) -> bool:
        """Follow a value into a call, and tell whether the result stands for the value."""
        func = call.func
        if role == "func":
            # `value.lower()` stands for the value; calling the value itself uses it.
            if isinstance(here, Attribute):
                return True
            self.end(USED, scope, expr, guards)
            return False
        if self.uses.logs(call, scope):
            self.end(LOGGED, scope, expr, guards)
            return False
        if isinstance(func, Attribute) and isinstance(func.base, (Literal, FString)):
            return True
        if is_name(func, "setattr") and len(call.args) == 3 and role in (1, 2):
            name = constant(call.args[1])
            owners = self.owners(call.args[0], scope) if isinstance(name, str) and role == 2 else []
            for owner in owners:
                self.slot(("a", owner, name), guards)
            if not owners:
                self.end(USED, scope, expr, guards)
            return False
        atoms = self.follower.atoms_of(func, scope)
        names = names_outside(atoms)
        if names:
            # None stands for a module that is not installed.
            atoms = atoms - {OTHER}
        if names and len(names) == len(atoms):
            if names <= PASSING or names <= AS_DICT:
                return True
            if names <= (HARMLESS if self.whole else HARMLESS - KEEPING):
                return False
        functions = [atom for atom in atoms if isinstance(atom, CALLEES)]
        if functions and len(functions) == len(atoms):
            for atom in functions:
                self.into(atom, role, scope, guards, expr)
            return False
        if isinstance(func, Attribute) and func.attribute in _ADDING:
            self.container(func.base, scope, guards, expr)
            return False
        self.end(USED, scope, expr, guards)
        return False

    def into(self, atom: Callee, role: Role, scope: Scope, guards: Guards, expr: Expr) -> None:
        sections = self.follower.sections
        if isinstance(atom, ClassItself) and sections is not None:
            config = next(
                (
                    above
                    for above in self.follower.program.bases(atom.scope).classes
                    if id(above) in sections.by_class
                ),
                None,
            )
            if config is not None:
                paths = sections.by_class[id(config)][1]
                own = isinstance(role, str) and all((*path, role) == self.origin for path in paths)
                self.end(COPIED if own else USED, scope, expr, guards)
                return
        slots = parameters(self.follower, atom, role)
        if slots is None:
            self.end(USED, scope, expr, guards)
            return
        for slot in slots:
            self.slot(slot, guards)

    def slot(self, slot: tuple[str, Scope, str], guards: Guards) -> None:
        """Follow a value to every use of the name, attribute or result that has it."""
        kind, scope, name = slot
        key = (kind, id(scope), name)
        known = self.best.get(key)
        if known is not None:
            guards = guards & known
            if guards == known:
                return
        self.best[key] = guards
        self.visits += 1
        if kind == "v":
            if id(scope) in self.uses.by_locals:
                self.end(USED, scope, Name(name, scope.place), guards)
                return
            if scope.kind == "module" and (name in self.loads.imported or name in self.loads.attributes):
                self.end(USED, scope, Name(name, scope.place), guards)
                return
            for expr, where in self.loads.of_name(name, scope):
                self.pending.append((expr, where, guards))
        elif kind == "a":
            self.attribute(scope, name, guards)
        else:
            self.result(scope, guards)

    def attribute(self, owner: Scope, name: str, guards: Guards) -> None:
        bases, outside = self.follower.program.bases(owner)
        opened = self.uses.opened(owner, name)
        if opened is None or self.uses.given_away(owner):
            self.end(USED, owner, Name(name, owner.place), guards)
            return
        for expr, where in opened:
            self.pending.append((expr, where, guards))
        texts = self.loads.texts.get(name, ())
        read = bool(opened)
        for expr, where in self.loads.attributes.get(name, ()):
            atoms = self.follower.atoms_of(expr.base, where)
            mine = [
                atom
                for atom in atoms
                if (
                    isinstance(atom, ObjectOf)
                    and (atom.scope in bases or owner in self.follower.program.bases(atom.scope).classes)
                )
                or (isinstance(atom, ClassItself) and atom.scope in bases)
            ]
            if mine or UNKNOWN in atoms or not atoms:
                read = True
                self.pending.append((expr, where, guards))
        for expr, where in texts:
            around = self.loads.around.get(id(expr))
            if around is not None and around[0] is not None and not isinstance(around[0], (Event, Default)):
                parent, role = around
                if isinstance(parent, Call) and role == 1 and is_name(parent.func, "getattr"):
                    read = True
                    self.pending.append((parent, where, guards))
        if not read and any(base not in INERT_BASES for base in outside):
            # A framework may read what its subclass stores.
            self.end(USED, owner, Name(name, owner.place), guards)

    def result(self, scope: Scope, guards: Guards) -> None:
        program = self.follower.program
        owner = program.owner(scope)
        if scope.kind != "function":
            self.end(USED, scope, Name("", scope.place), guards)
            return
        seen = False
        if owner is not None and any(
            (dotted(decorator) or "").rsplit(".", 1)[-1] in ("property", "cached_property")
            for decorator in scope.decorators
        ):
            self.slot(("a", owner, scope.name), guards)
            return
        for where, call in self.follower.names.callers(scope.name):
            atoms = self.follower.atoms_of(call.func, where)
            if atoms and not any(
                atom is UNKNOWN or (isinstance(atom, (PlainFunction, BoundMethod)) and atom.scope is scope)
                for atom in atoms
            ):
                continue
            seen = True
            expr = self.loads.calls.get((id(where), call.number))
            if expr is not None:
                self.pending.append((expr, where, guards))
        if scope.name in self.follower.names.referenced() or (not seen and scope.name not in STORING):
            self.end(USED, scope, Name(scope.name, scope.place), guards)


def ends_of(
    uses: Uses, starts: Iterable[tuple[Expr, Scope]], origin: Path, *, whole: bool = False
) -> list[End]:
    """Return where the values of some expressions end, each place once.

    Args:
        uses: What is known of the program's values.
        starts: Expressions that have the value, each with its scope.
        origin: The key whose value it is: giving the key itself a value is no use of it.
        whole: Whether it is a whole section, which a program writes to a file as a record of the run.
    """
    trace = _ValueTrace(uses, origin, whole=whole)
    for expr, scope in starts:
        trace.begin(expr, scope)
    return trace.run()


def ends_of_parameters(uses: Uses, slots: Iterable[tuple[Scope, str]], origin: Path) -> list[End]:
    """Return where the values of some parameters end."""
    trace = _ValueTrace(uses, origin)
    for scope, name in slots:
        trace.slot(("v", scope, name), NO_GUARDS)
    return trace.run()


def ends_of_attribute(uses: Uses, owner: Scope, name: str, origin: Path) -> list[End]:
    """Return where the values of an attribute end."""
    trace = _ValueTrace(uses, origin)
    trace.slot(("a", owner, name), NO_GUARDS)
    return trace.run()
