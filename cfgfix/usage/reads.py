"""Which keys of a config the code reads, where, and whether the value counts there.

Every read is looked at with what it is read from: an object of a config class, the mapping that a loader made of a
file, a thing of another kind, or something not known. A use of that name on an object that is not known is enough to
say nothing about the key. `**section`, `asdict(section)` and iteration use every key of a section at once; where such
a whole is only printed, stored or copied into the same class again, it is no use of any one key.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from cfgfix.code.inference.config_atoms import (
    CALLEES,
    OTHER,
    UNKNOWN,
    Atoms,
    Callee,
    ClassItself,
    MappingMethod,
    ObjectOf,
    Outside,
    Path,
    Role,
    config_objects,
    is_outside_configs,
    names_outside,
)
from cfgfix.code.inference.config_sections import Sections
from cfgfix.code.inference.config_values import (
    AS_DICT,
    Follower,
)
from cfgfix.code.inference.name_uses import NAMING, Loads
from cfgfix.code.inference.value_ends import ends_of
from cfgfix.code.inference.value_uses import HARMLESS, LOGGED, USED, Uses, parameters
from cfgfix.code.model.expressions import MISSING, constant, is_name
from cfgfix.code.model.nodes import (
    NOT_KEPT,
    Attribute,
    Call,
    Collection,
    Compare,
    Dictionary,
    Expr,
    FString,
    Name,
    Slice,
    Starred,
    Subscript,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.usage.escaping import (
    TAKING_ALL,
    enters_outside,
    fate_of_output,
    find_given_away,
    keeps,
    note_locals,
    note_loose,
    note_stored,
)
from cfgfix.usage.key_uses import CORE, TOOLS
from cfgfix.usage.roles import roles


class _KeyUses:
    """The reads and writes found of one key."""

    __slots__ = ("arithmetic", "maybe", "parameters", "reads", "whole", "writes")

    def __init__(self) -> None:
        self.reads: list[tuple[Expr, Scope]] = []
        self.parameters: list[tuple[tuple[str, Scope, str], Expr, Scope]] = []
        self.writes: list[tuple[Expr, Scope, Event | None, Expr]] = []
        self.maybe: list[tuple[Expr, Scope]] = []
        self.whole: list[tuple[str, Expr, Scope]] = []


class Collector:
    """Finds all reads of a config in a program.

    Args:
        program: The linked program, with every file of the project.
        root: The project's folder.
        schema: The schema of the config class and, for each class as `file:Class`, its key paths; or None.
        paths: Key paths of the config files, for a project without a class.
    """

    def __init__(
        self,
        program: Program,
        root: str,
        schema: tuple[Mapping[str, Any], Mapping[str, tuple[Path, ...]]] | None,
        paths: Iterable[Path] = (),
    ) -> None:
        self.program = program
        self.root = root
        self.sections = _sections_of(program, root, *schema) if schema is not None else None
        self.follower = Follower(program, self.sections)
        self.modules = self.follower.names.modules
        self.role = roles(self.modules, root)
        self.loads = Loads(self.follower)
        self.uses = Uses(self.follower, self.loads)
        self.uses.aside = frozenset(path for path, role in self.role.items() if role == TOOLS)
        self.keys: dict[Path, _KeyUses] = {}
        self.inner: set[Path] = set()
        if self.sections is not None:
            for path, owner in self.sections.paths():
                if self.sections.child(owner, path[-1]) is not None:
                    self.inner.add(path)
                else:
                    self.keys[path] = _KeyUses()
        for path in paths:
            self.inner.update(path[:length] for length in range(1, len(path)))
        for path in paths:
            if path not in self.inner and (self.sections is None):
                self.keys.setdefault(path, _KeyUses())
        self.by_name: dict[str, list[Path]] = {}
        for path in self.keys:
            self.by_name.setdefault(path[-1], []).append(path)
        self._methods: dict[str, int] | None = None
        self.bounded: set[int] = set()
        """Texts that name keys in a loop over names that is understood."""
        self.undefined: list[tuple[int, str, Expr, Scope, bool]] = []
        self.parts: dict[str, list[Path]] = {}
        """Sections by their names, for a project without a class."""
        if self.sections is None:
            for path in self.inner:
                self.parts.setdefault(path[-1], []).append(path)
        self.tops = {path[0] for path in (*self.inner, *self.keys)}
        self.groups: set[Path] = set()
        """Paths that no file has, under which the outermost keys of files are read."""
        self.composes = any(
            source.split(".")[0] == "hydra"
            for module in self.modules
            for scope in module.summary.scopes
            for source in scope.imports.values()
        )
        self.stored: dict[tuple[int, str], tuple[Scope, set[Path]]] = {}
        """Sections that objects get as attributes, by class and name."""
        self._find_groups()
        find_given_away(self)
        self._collect_uses()
        note_loose(self)
        note_locals(self)
        note_stored(self)

    def core(self, scope: Scope) -> bool:
        """Tell whether a scope belongs to the training program."""
        return self.role[scope.module.path] == CORE

    def _collect_uses(self) -> None:
        for name, places in self.loads.attributes.items():
            for expr, scope in places:
                self._note_access(expr, expr.base, name, scope)
                if name in TAKING_ALL and self.sections is None:
                    for path in self.whole_paths(expr.base, scope):
                        self.used_whole(path, self.fate(expr, scope), expr, scope)
        for item, scope in self.loads.subscripts:
            key = constant(item.index)
            if isinstance(key, str):
                self._note_access(item, item.base, key, scope)
                self._note_part(item, item.base, key, scope)
            elif key is MISSING and not isinstance(item.index, Slice):
                self._note_dynamic(item, item.base, item.index, scope)
        for module in self.modules:
            for scope in module.summary.scopes:
                for number in range(len(scope.calls)):
                    found = self.loads.calls.get((id(scope), number))
                    if found is not None:
                        self._call(found, scope)
                for event in scope.events():
                    if event.kind in ("assign", "annotate", "augment"):
                        for target in event.targets:
                            self._collect_write(target, event, scope)
                    if event.value is not None and (
                        event.kind == "for"
                        # What is put in a mapping by a name is taken out by one: that is not followed.
                        or (
                            event.kind == "assign"
                            and any(isinstance(item, Subscript) for item in event.targets)
                        )
                    ):
                        self._note_whole_section(event.value, scope, None)
        for container, scope in self.loads.containers:
            for part in (
                container.items
                if isinstance(container, Collection)
                else [value for _, value in container.entries]
            ):
                self._note_held(part, container, scope)
        self._note_texts()

    def _note_held(self, part: Expr, container: Expr, scope: Scope) -> None:
        """Note sections that are put in a tuple, list or mapping."""
        if not isinstance(part, NAMING):
            return
        paths = self.whole_paths(part, scope)
        if not paths:
            return
        around = self.loads.around.get(id(container))
        if around is not None and isinstance(around[0], Event) and around[1] in ("owner", "index"):
            return
        fate = self.fate(container, scope)
        for path in paths:
            self.used_whole(path, fate, part, scope)

    def whole_paths(self, expr: Expr, scope: Scope) -> set[Path]:
        """Return the key paths of the sections that an expression may stand for."""
        return self._whole_paths(self.follower.atoms_of(expr, scope))

    def _whole_paths(self, atoms: Atoms) -> set[Path]:
        owners = self._section_paths()
        paths = self.uses.paths_of(atoms)
        return {
            path for path in paths if not path or path in self.inner or path in owners
        } | self._paths_below(paths)

    def _paths_below(self, paths: Iterable[Path]) -> set[Path]:
        """Return the section paths inside one file that a path of the program may mean.

        A file may stand under a name that no file has, such as a group of Hydra. Where the groups are
        known, their steps are cut off; where Hydra composes the config and no group is known, any leading
        steps are. Only for projects without a class.
        """
        found: set[Path] = set()
        if self.sections is not None:
            return found
        for path in paths:
            if not path or path[0] in self.tops:
                continue
            groups = [path[:length] for length in range(1, len(path) + 1) if path[:length] in self.groups]
            if groups:
                found.update(path[len(group) :] for group in groups)
            elif self.composes:
                found.update(path[start:] for start in range(1, len(path) + 1))
        return {path for path in found if not path or path in self.inner}

    def _find_groups(self) -> None:
        """Find the key paths under which the program has whole files.

        The outermost keys of files are read below them.
        """
        if self.sections is not None:
            return
        reads = [
            (expr.base, scope) for name in self.tops for expr, scope in self.loads.attributes.get(name, ())
        ]
        reads += [
            (expr.base, scope)
            for expr, scope in self.loads.subscripts
            if isinstance(key := constant(expr.index), str) and key in self.tops
        ]
        for base, scope in reads:
            for path in self.uses.paths_of(self.follower.atoms_of(base, scope)):
                if path and path[0] not in self.tops:
                    self.groups.add(path)

    def _note_access(self, expr: Expr, base: Expr, name: str, scope: Scope) -> None:
        interesting = name in self.by_name
        if not interesting and self.sections is None:
            return
        around = self.loads.around.get(id(expr))
        if around is not None and isinstance(around[0], Event) and around[1] == "augmented":
            return
        if not interesting and not isinstance(base, (Name, Attribute)):
            return
        atoms = self.follower.atoms_of(base, scope)
        if interesting:
            self._note(expr, scope, atoms, name)
        elif isinstance(expr, Attribute):
            self._note_undefined(atoms, name, expr, scope)

    def _note_part(self, expr: Expr, base: Expr, name: str, scope: Scope) -> None:
        """Note a section taken by its name from an unknown mapping and used as a whole.

        The mapping may be the config. Reads of single keys are found elsewhere.
        """
        paths = self.parts.get(name)
        if paths is None:
            return
        atoms = self.follower.atoms_of(base, scope)
        if atoms and UNKNOWN not in atoms:
            return
        parent, role = self.loads.around.get(id(expr), (None, None))
        if (isinstance(parent, (Attribute, Subscript)) and role == "base") or isinstance(parent, Compare):
            return
        fate = self.fate(expr, scope)
        for path in paths:
            self.used_whole(path, fate, expr, scope)

    def _note_undefined(self, atoms: Atoms, name: str, expr: Expr, scope: Scope) -> None:
        for owner in config_objects(atoms):
            self.undefined.append((owner, name, expr, scope, True))

    def _note(self, expr: Expr, scope: Scope, atoms: Atoms, name: str) -> None:
        paths = self.uses.paths_of(atoms)
        hit = False
        for path in paths:
            key = self.keys.get((*path, name))
            if key is not None:
                key.reads.append((expr, scope))
                hit = True
        for path in self._paths_below(paths):
            key = self.keys.get((*path, name))
            if key is not None:
                key.maybe.append((expr, scope))
        if not atoms or UNKNOWN in atoms:
            for path in self.by_name[name]:
                self.keys[path].maybe.append((expr, scope))
        elif not hit and paths and isinstance(expr, Attribute):
            self._note_undefined(atoms, name, expr, scope)

    def _call(self, call: Call, scope: Scope) -> None:
        func = call.func
        if isinstance(func, Name) and func.name in ("getattr", "setattr", "hasattr") and len(call.args) >= 2:
            name = constant(call.args[1])
            if func.name == "getattr":
                if not isinstance(name, str):
                    self._note_dynamic(call, call.args[0], call.args[1], scope)
                elif name in self.by_name or self.sections is not None:
                    atoms = self.follower.atoms_of(call.args[0], scope)
                    if name in self.by_name:
                        self._note(call, scope, atoms, name)
                    fields = self.sections.fields if self.sections is not None else {}
                    for owner in config_objects(atoms):
                        if name not in fields[owner]:
                            self.undefined.append((owner, name, call, scope, len(call.args) < 3))
            elif func.name == "setattr" and isinstance(name, str) and len(call.args) == 3:
                for path in self.uses.paths_of(self.follower.atoms_of(call.args[0], scope)):
                    key = self.keys.get((*path, name))
                    if key is not None:
                        key.writes.append((call, scope, None, call.args[2]))
        elif isinstance(func, Attribute) and func.attribute in ("get", "pop", "setdefault") and call.args:
            name = constant(call.args[0])
            if isinstance(name, str):
                if name in self.by_name:
                    self._note(call, scope, self.follower.atoms_of(func.base, scope), name)
                self._note_part(call, func.base, name, scope)
            else:
                self._note_dynamic(call, func.base, call.args[0], scope)
        for position, value in enumerate(call.args):
            if isinstance(value, Starred):
                self._note_whole_section(value.value, scope, (call, "*"))
            else:
                self._note_whole_section(value, scope, (call, position))
        for keyword, value in call.keywords:
            self._note_whole_section(value, scope, (call, keyword if keyword is not None else "**"))
        if isinstance(func, Attribute) and func.attribute in ("items", "values") and not call.args:
            paths = self.uses.paths_of(self.follower.atoms_of(func.base, scope))
            for path in paths | self._paths_below(paths):
                self.used_whole(path, self.fate(call, scope), call, scope)

    def _collect_write(self, target: Expr, event: Event, scope: Scope) -> None:
        if isinstance(target, Collection):
            for item in target.items:
                self._collect_write(item, event, scope)
            return
        if not isinstance(target, (Attribute, Subscript)):
            return
        found = self.uses.access(target)
        if found is None or found.name not in self.by_name:
            return
        for path in self.uses.paths_of(self.follower.atoms_of(found.base, scope)):
            key = self.keys.get((*path, found.name))
            if key is not None:
                key.writes.append((target, scope, event, event.value or NOT_KEPT))

    def _note_dynamic(self, expr: Expr, base: Expr, name: Expr, scope: Scope) -> None:
        """Note a read whose key name is computed."""
        if not isinstance(base, (Name, Attribute, Call, Subscript)):
            return
        atoms = self.follower.atoms_of(base, scope)
        paths = self.uses.paths_of(atoms)
        unknown = not atoms or UNKNOWN in atoms
        if not paths and not unknown:
            return
        names = self._names(name, scope)
        if names is not None:
            for known in names:
                if known in self.by_name:
                    self._note(expr, scope, atoms, known)
            return
        for path in paths | self._paths_below(paths):
            self.used_whole(path, self.fate(expr, scope), expr, scope)

    def _names(self, name: Expr, scope: Scope) -> list[str] | None:
        """Return the texts that a loop variable takes, or None where they are not known."""
        items = self.uses.items_in_loop(name, scope)
        if items is None:
            return None
        self.bounded.update(id(item) for item in items)
        return [str(item.value) for item in items]

    def _note_whole_section(self, value: Expr, scope: Scope, argument: tuple[Call, Any] | None) -> None:
        """Note a whole section that is given to a call or statement."""
        if not isinstance(value, NAMING):
            return
        paths = self.whole_paths(value, scope)
        if not paths:
            return
        fate = USED
        if argument is not None:
            call = argument[0]
            if is_name(call.func, "setattr") and argument[1] == 2:
                name = constant(call.args[1])
                if not isinstance(name, str) or not keeps(self, call.args[0], name, scope, paths):
                    for path in paths:
                        self.used_whole(path, USED, value, scope)
                return
            if isinstance(call.func, Name) and call.func.name in (
                "getattr",
                "setattr",
                "hasattr",
                "delattr",
                "isinstance",
            ):
                return
            if self.uses.logs(call, scope):
                fate = LOGGED
            else:
                callee = self.follower.atoms_of(call.func, scope)
                names = names_outside(callee)
                if names:
                    callee = callee - {OTHER}
                outside = bool(names) and all(isinstance(atom, Outside) for atom in callee)
                entered = [atom for atom in callee if isinstance(atom, CALLEES)]
                if argument[1] == "**" and entered:
                    self._follow_unpacked(callee, paths, argument[0], scope)
                    return
                if entered and len(entered) == len(callee) and argument[1] != "*":
                    if all(
                        self._by_its_name(atom, call) and self.follows(atom, argument[1]) for atom in entered
                    ):
                        self._note_given_sections(entered, argument[1], paths)
                        return
                elif (
                    names == {"functools.partial"}
                    and outside
                    and self._binds_parameter(call, argument[1], scope)
                ):
                    return
                elif outside and names <= HARMLESS:
                    fate = fate_of_output(self, names, argument[0], scope)
                elif outside and names & _SAME_CALLS and _has_own_name(argument[1]):
                    fate = self.fate(argument[0], scope)
                elif (
                    (outside and (names <= AS_DICT or names & _SAME_CALLS))
                    or (
                        callee
                        and all(isinstance(atom, MappingMethod) for atom in callee)
                        and isinstance(call.func, Attribute)
                        and call.func.attribute == "update"
                    )
                    or self._is_missing_module(callee)
                ):
                    return
                elif (
                    UNKNOWN in callee
                    and argument[1] not in ("*", "**")
                    and isinstance(call.func, Attribute)
                    and self.methods().get(call.func.attribute)
                    and all(atom is UNKNOWN or isinstance(atom, (*CALLEES, ObjectOf)) for atom in callee)
                    and not enters_outside(self, call.func, scope)
                ):
                    # Every method of that name takes it as one of its arguments, and is followed from there.
                    return
        for path in paths:
            self.used_whole(path, fate, value, scope)

    def _note_given_sections(self, callee: Iterable[Callee], role: Role, paths: set[Path]) -> None:
        """Note the sections that a call gives to attributes of classes."""
        for atom in callee:
            for kind, owner, name in parameters(self.follower, atom, role) or ():
                if kind == "a":
                    self.stored.setdefault((id(owner), name), (owner, set()))[1].update(paths)

    def _binds_parameter(self, call: Call, role: Role, scope: Scope) -> bool:
        """Tell whether `partial(f, section)` gives the section to a followed parameter."""
        if not call.args or role == 0 or role in ("*", "**"):
            return False
        functions = self.follower.atoms_of(call.args[0], scope)
        place = role - 1 if isinstance(role, int) else role
        return bool(functions) and all(
            isinstance(atom, CALLEES) and self.follows(atom, place) for atom in functions
        )

    def _by_its_name(self, atom: Callee, call: Call) -> bool:
        """Tell whether a function is called by its own name, or is a class.

        Only such calls give their arguments to known parameters.
        """
        func = call.func
        called = (
            func.attribute if isinstance(func, Attribute) else func.name if isinstance(func, Name) else ""
        )
        return isinstance(atom, ClassItself) or called == atom.scope.name

    def follows(self, atom: Callee, role: Role) -> bool:
        """Tell whether an argument is followed into a parameter or attribute."""
        if (
            isinstance(atom, ClassItself)
            and self.sections is not None
            and any(id(above) in self.sections.by_class for above in self.program.bases(atom.scope).classes)
        ):
            return True
        return parameters(self.follower, atom, role) is not None or self._is_forwarded(atom, role)

    def _is_forwarded(self, atom: Callee, role: Role, depth: int = 0) -> bool:
        """Tell whether a keyword reaches a `**kwargs` that is only forwarded or read."""
        scope = self.program.method(atom.scope, "__init__") if isinstance(atom, ClassItself) else atom.scope
        if (
            not isinstance(role, str)
            or role == "**"
            or scope is None
            or depth > 4
            or scope.kind != "function"
        ):
            return False
        name = next((param.name for param in scope.params if param.kind == "**"), None)
        if name is None:
            return False
        for expr, where in self.loads.of_name(name, scope):
            parent, part = self.loads.around.get(id(expr), (None, None))
            if isinstance(parent, Subscript) or (
                isinstance(parent, Attribute) and parent.attribute in ("get", "pop")
            ):
                continue
            if not isinstance(parent, Call) or part != "**":
                return False
            callee = self.follower.atoms_of(parent.func, where)
            if not callee or not all(
                isinstance(other, CALLEES)
                and (
                    parameters(self.follower, other, role) is not None
                    or self._is_forwarded(other, role, depth + 1)
                )
                for other in callee
            ):
                return False
        return True

    def _is_missing_module(self, callee: Atoms) -> bool:
        """Tell whether a callee comes from a module that the project lacks."""
        names = names_outside(callee)
        if not names or not is_outside_configs(callee):
            return False
        for name in names:
            head, _, _ = name.rpartition(".")
            above, _, last = head.rpartition(".")
            package = self.program.module(above) if above else None
            if package is None or not package.is_package or self.program.module(head) is not None:
                return False
            try:
                beside = os.listdir(os.path.dirname(package.path) or ".")
            except OSError:
                return False
            if any(item.split(".")[0] == last for item in beside):
                return False
        return True

    def methods(self) -> dict[str, int]:
        """Return how many functions of the project have each name."""
        if self._methods is None:
            self._methods = {}
            for module in self.modules:
                for scope in module.summary.scopes:
                    if scope.kind == "function":
                        self._methods[scope.name] = self._methods.get(scope.name, 0) + 1
        return self._methods

    def _section_paths(self) -> set[Path]:
        """Return the key paths of the sections that a config class describes."""
        if self.sections is None:
            return set()
        return {path for _, paths in self.sections.by_class.values() for path in paths}

    def _follow_unpacked(self, callee: Atoms, paths: set[Path], expr: Expr, scope: Scope) -> None:
        """Follow the keys of `f(**section)` into the parameters of `f`."""
        for atom in callee:
            if (
                isinstance(atom, ClassItself)
                and self.sections is not None
                and any(
                    id(above) in self.sections.by_class for above in self.program.bases(atom.scope).classes
                )
            ):
                continue
            for path in paths:
                for key_path, key in self.keys.items():
                    if key_path[: len(path)] != path or len(key_path) == len(path):
                        continue
                    slots = (
                        parameters(self.follower, atom, key_path[len(path)])
                        if isinstance(atom, CALLEES)
                        else None
                    )
                    if slots is None or len(key_path) > len(path) + 1:
                        key.whole.append((USED, expr, scope))
                    else:
                        key.parameters += [(slot, expr, scope) for slot in slots]

    def fate(self, expr: Expr, scope: Scope) -> str:
        """Return whether the result of a section's use is used or only logged."""
        ends = ends_of(self.uses, [(expr, scope)], (), whole=True)
        role = self.role[scope.module.path]
        # What a test does with the record of a run is no use of it by the program.
        return (
            USED
            if any(end.kind == USED and (role != CORE or self.core(end.scope)) for end in ends)
            else LOGGED
        )

    def used_whole(self, path: Path, fate: str, expr: Expr, scope: Scope) -> None:
        """Note that an expression uses all keys of a section at once."""
        for key_path, key in self.keys.items():
            if key_path[: len(path)] == path and len(key_path) > len(path):
                key.whole.append((fate, expr, scope))

    def _note_texts(self) -> None:
        """Note texts equal to a key name that may be reads of the key."""
        for name, paths in self.by_name.items():
            for expr, scope in self.loads.texts.get(name, ()):
                if id(expr) in self.bounded:
                    continue
                around = self.loads.around.get(id(expr))
                if around is None or around[0] is None:
                    continue
                parent, role = around
                if isinstance(parent, Event):
                    if parent.kind == "expr" or role == "index":
                        continue
                elif isinstance(parent, Expr):
                    if isinstance(parent, Dictionary) and role == "key":
                        continue
                    if isinstance(parent, (Subscript, FString)):
                        continue
                    if isinstance(parent, Compare):
                        if role == "left" and parent.rights[0].operator in ("in", "not in"):
                            atoms = self.follower.atoms_of(parent.rights[0].right, scope)
                            if self.uses.paths_of(atoms):
                                self._note(parent, scope, atoms, name)
                        continue
                    if isinstance(parent, Call):
                        func = parent.func
                        if isinstance(func, Name) and func.name in ("getattr", "hasattr", "setattr", "print"):
                            continue
                        if isinstance(func, Attribute) and func.attribute in (
                            "get",
                            "pop",
                            "setdefault",
                            "add_argument",
                        ):
                            continue
                        if self.uses.logs(parent, scope):
                            continue
                for path in paths:
                    self.keys[path].maybe.append((expr, scope))


def _has_own_name(role: Role) -> bool:
    """Tell whether an argument is given by keyword."""
    return isinstance(role, str) and role not in ("*", "**")


_SAME_CALLS = frozenset(
    {
        "copy.copy", "copy.deepcopy", "dict", "dataclasses.replace", "attr.evolve", "attrs.evolve",
        "omegaconf.OmegaConf.create", "omegaconf.OmegaConf.to_container", "omegaconf.OmegaConf.merge",
        "omegaconf.OmegaConf.structured", "easydict.EasyDict", "munch.Munch", "munch.munchify", "box.Box",
        "addict.Dict", "dotmap.DotMap", "types.SimpleNamespace", "argparse.Namespace", "collections.OrderedDict",
        "ml_collections.ConfigDict", "ml_collections.FrozenConfigDict", "typing.cast",
    }
)  # fmt: skip


def _sections_of(
    program: Program, root: str, schema: Mapping[str, Any], sections: Mapping[str, tuple[Path, ...]]
) -> Sections:
    by_path = {os.path.realpath(module.path): module for module in program.all_modules()}
    classes: dict[Scope, tuple[Path, ...]] = {}
    for name, paths in sections.items():
        place, _, qualname = name.rpartition(":")
        module = by_path.get(os.path.realpath(os.path.join(root, place)))
        if module is None:
            continue
        for scope in module.summary.scopes:
            if scope.kind == "class" and scope.qualname == qualname:
                classes[scope] = paths
    return Sections(schema, classes)
