"""Constants that a call gives although its caller has the config with a key of that name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cfgfix.code.inference.config_atoms import (
    CALLEES,
    Callee,
    ClassItself,
    Path,
    PlainFunction,
)
from cfgfix.code.model.nodes import Literal
from cfgfix.code.model.summary import Scope
from cfgfix.usage.key_uses import (
    CORE,
    LIVE,
    LiteralBesideKey,
    Use,
    spot,
)
from cfgfix.usage.load_calls import LoadCalls


class ConstantsBesideKeys:
    """Finds the literal arguments that are named like a key at hand."""

    def __init__(self, loads: LoadCalls) -> None:
        self._loads = loads
        self._found = loads.found

    def found(self, keys: Mapping[Path, Use]) -> Iterator[LiteralBesideKey]:
        """Yield literal arguments named like a key of the config that the caller has.

        The key must be live, and another call must give the same parameter the key's value.
        """
        sections = self._found.sections
        for module in self._found.modules:
            if self._found.role[module.path] != CORE or module.path.endswith(".ipynb"):
                continue
            for scope in module.summary.scopes:
                if scope.kind != "function":
                    continue
                at_hand: bool | None = None
                for call in scope.calls:
                    for name, value in call.keywords:
                        paths = self._found.by_name.get(name or "", ())
                        if (
                            len(paths) != 1
                            or not isinstance(value, Literal)
                            or isinstance(value.value, (bool, type(None)))
                        ):
                            continue
                        if keys[paths[0]].status != LIVE:
                            continue
                        atoms = self._loads.follower.atoms_of(call.func, scope)
                        callee = [atom for atom in atoms if isinstance(atom, CALLEES)]
                        if not callee or len(callee) < len(atoms):
                            continue
                        if sections is not None and any(
                            isinstance(atom, ClassItself)
                            and any(
                                id(above) in sections.by_class
                                for above in self._loads.program.bases(atom.scope).classes
                            )
                            for atom in callee
                        ):
                            continue
                        if not self._gives_same_key(callee, name or "", paths[0]):
                            continue
                        if at_hand is None:
                            at_hand = self._at_hand(scope)
                        if at_hand:
                            yield LiteralBesideKey(paths[0], value.value, spot(call, scope))

    def _gives_same_key(self, callee: list[Callee], name: str, path: Path) -> bool:
        """Tell whether another call gives the key's value to the same parameter."""
        for atom in callee:
            function = (
                self._loads.program.method(atom.scope, "__init__")
                if isinstance(atom, ClassItself)
                else atom.scope
            )
            plain = [param.name for param in function.params if param.kind == "plain"] if function else []
            bound = 0 if isinstance(atom, PlainFunction) else 1
            place = plain.index(name) - bound if name in plain[bound:] else None
            for where, call in self._loads.follower.names.callers(atom.scope.name):
                value = call.argument(place, name) if place is not None else call.keyword(name)
                if value is None or isinstance(value, Literal):
                    continue
                called = self._loads.follower.atoms_of(call.func, where)
                if any(
                    type(other) is type(atom) and other.scope is atom.scope
                    for other in called
                    if isinstance(other, CALLEES)
                ) and (self._found.uses.key_of(value, where) == path):
                    return True
        return False

    def _at_hand(self, scope: Scope) -> bool:
        """Tell whether a function has a config in a variable or in its object."""
        for places in self._found.loads.names[id(scope)].values():
            if self._found.uses.paths_of(self._loads.follower.atoms_of(places[0], scope)):
                return True
        owner = self._loads.program.owner(scope)
        return owner is not None and any(
            self._found.uses.paths_of(self._loads.follower.atoms_of(value, where))
            for name in ("config", "cfg", "hparams", "hps")
            for value, where in self._loads.follower.stores(name, owner)
        )
