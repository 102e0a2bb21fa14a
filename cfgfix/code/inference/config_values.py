"""What the names and expressions of a project may stand for, as far as its config is concerned.

`self.config.data.x`, a section passed as an argument or stored in `__init__`, `getattr(cfg, "x", 0)`, `cfg["x"]`,
`.get("x")` and aliases are followed through the project by name and by assignment, without regard to order: what a
name may be is the union of all it is ever given. Where a value comes from outside of what is followed it is unknown,
and whoever asks must take it for anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from cfgfix.code.inference.atom_answers import Answers
from cfgfix.code.inference.config_atoms import (
    OTHER,
    UNKNOWN,
    Atom,
    Atoms,
    BoundMethod,
    ClassItself,
    ConfigMapping,
    ConfigObject,
    Loaded,
    MappingMethod,
    ModuleItself,
    ObjectOf,
    Outside,
    PlainFunction,
    is_outside_configs,
)
from cfgfix.code.inference.config_sections import Sections
from cfgfix.code.inference.name_index import NameIndex
from cfgfix.code.model.expressions import MISSING, constant, dotted
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import (
    NOWHERE,
    Assigned,
    Attribute,
    Binary,
    Boolean,
    Call,
    Collection,
    Compare,
    Conditional,
    Dictionary,
    Expr,
    FString,
    Literal,
    Name,
    Starred,
    Subscript,
    Unary,
)
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import ClassValue, External, Function, ModuleValue

MAX_STEPS = 1_000_000
"""Steps of following values in one project; a project of 50,000 lines takes 60,000. Beyond it every object is
unknown, so nothing is claimed."""
MAX_DEPTH = 40
"""How far one value is followed."""
MAX_PATH = 12
"""Longest key path in a mapping that is told apart."""

_UNKNOWN: Atoms = frozenset({UNKNOWN})
_OTHER: Atoms = frozenset({OTHER})
_NONE: Atoms = frozenset()

YAML_LOADS = frozenset(
    {
        "yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load", "yaml.load_all", "yaml.safe_load_all",
        "oyaml.load", "oyaml.safe_load", "ruamel.yaml.load", "ruamel.yaml.safe_load", "ruamel.yaml.round_trip_load",
        "ruamel_yaml.load", "ruamel_yaml.safe_load", "ruamel.yaml.YAML().load", "ruamel_yaml.YAML().load",
        "omegaconf.OmegaConf.load", "hydra.compose",
    }
)  # fmt: skip
_SAME = frozenset(
    {
        "copy.copy", "copy.deepcopy", "dict", "list", "tuple", "dataclasses.replace", "attr.evolve", "attrs.evolve",
        "omegaconf.OmegaConf.create", "omegaconf.OmegaConf.to_container", "omegaconf.OmegaConf.merge",
        "omegaconf.OmegaConf.structured", "easydict.EasyDict", "munch.Munch", "munch.munchify", "box.Box",
        "addict.Dict", "dotmap.DotMap", "types.SimpleNamespace", "argparse.Namespace", "collections.OrderedDict",
        "ml_collections.ConfigDict", "ml_collections.FrozenConfigDict", "typing.cast",
    }
)  # fmt: skip
"""Calls whose result is as good as their argument."""
AS_DICT = frozenset({"dataclasses.asdict", "attr.asdict", "attrs.asdict", "vars", "dataclasses.astuple"})
_SCALARS = frozenset({"int", "float", "str", "bool", "bytes", "complex", "None", "pathlib.Path", "argparse.Namespace", "argparse.ArgumentParser"})  # fmt: skip


class Follower:
    """Follows values through a program."""

    def __init__(self, program: Program, sections: Sections | None) -> None:
        self.program = program
        self.sections = sections
        self.names = NameIndex(program)
        self.steps = 0
        self._answers = Answers()

    def atoms_of(self, expr: Expr | None, scope: Scope, depth: int = 0) -> Atoms:
        """Return the atoms that an expression may be."""
        if expr is None:
            return _UNKNOWN
        self.steps += 1
        if depth > MAX_DEPTH or self.steps > MAX_STEPS:
            return _UNKNOWN
        if isinstance(expr, Name):
            return self._answers.answer(
                ("n", id(scope), expr.name), lambda: self._atoms_of_name(expr.name, scope, depth + 1)
            )
        if isinstance(expr, Attribute):
            found = self.atoms_of(expr.base, scope, depth + 1)
            result: set[Atom] = set()
            for atom in found:
                result |= self._atoms_of_attribute(atom, expr.attribute, depth + 1)
            return frozenset(result)
        if isinstance(expr, Call):
            return self._answers.answer(
                ("k", id(scope), expr.number), lambda: self._atoms_of_call(expr, scope, depth + 1)
            )
        if isinstance(expr, Subscript):
            key = constant(expr.index)
            result = set()
            for atom in self.atoms_of(expr.base, scope, depth + 1):
                result |= self._atoms_of_item(atom, key)
            return frozenset(result)
        if isinstance(expr, Boolean):
            return self._atoms_of_all(expr.operands, scope, depth)
        if isinstance(expr, Conditional):
            return self._atoms_of_all((expr.then, expr.otherwise), scope, depth)
        if isinstance(expr, Assigned):
            return self.atoms_of(expr.value, scope, depth + 1)
        if isinstance(expr, Starred):
            return self.atoms_of(expr.value, scope, depth + 1)
        if isinstance(expr, Collection):
            return self._atoms_of_container(expr.items, scope, depth)
        if isinstance(expr, Dictionary):
            return self._atoms_of_container([value for _, value in expr.entries], scope, depth)
        if isinstance(expr, (Literal, FString, Unary, Binary, Compare)):
            return _OTHER
        return _UNKNOWN

    def _atoms_of_container(self, items: Iterable[Expr], scope: Scope, depth: int) -> Atoms:
        return _OTHER if self._atoms_of_all(items, scope, depth) <= _OTHER else _UNKNOWN

    def _atoms_of_all(self, items: Iterable[Expr], scope: Scope, depth: int) -> Atoms:
        result: set[Atom] = set()
        for item in items:
            result |= self.atoms_of(item, scope, depth + 1)
        return frozenset(result)

    def _atom_of_object(self, scope: Scope) -> Atom:
        if self.sections is not None:
            for above in self.program.bases(scope).classes:
                if id(above) in self.sections.by_class:
                    return ConfigObject(id(above))
        return ObjectOf(scope)

    def _atoms_of_name(self, name: str, scope: Scope, depth: int) -> Atoms:
        here: Scope | None = scope
        first = True
        while here is not None:
            if here.kind != "class" or first:
                if here.kind in ("function", "lambda") and any(param.name == name for param in here.params):
                    result = set(self._atoms_of_parameter(here, name, depth))
                    for value, how in self.names.assignments(here).get(name, ()):
                        result |= self._atoms_bound(value, how, here, depth)
                    return frozenset(result)
                if name in here.outer:
                    here = self.program.outer(here)
                    continue
                assigned = self.names.assignments(here).get(name)
                if assigned:
                    result = set()
                    for value, how in assigned:
                        result |= self._atoms_bound(value, how, here, depth)
                    child = here.children.get(name)
                    if child is not None:
                        result |= self._atom_of_definition(here.module.summary.scopes[child])
                    if name in here.imports:
                        result |= self._atoms_of_import(here.imports[name], here.module, depth)
                    return frozenset(result)
                child = here.children.get(name)
                if child is not None:
                    return self._atom_of_definition(here.module.summary.scopes[child])
                if name in here.imports:
                    return self._atoms_of_import(here.imports[name], here.module, depth)
                if name in here.names:
                    return _UNKNOWN
            first = False
            here = self.program.outer(here)
        for star in scope.module.summary.scopes[0].stars:
            found = self.program.find(star, scope.module)
            if (
                isinstance(found, ModuleValue)
                and found.module.scope is not None
                and name in found.module.scope.names | set(found.module.scope.imports)
            ):
                return self._atoms_of_member(found.module, name, depth)
        return frozenset({Outside(name)})

    def _atom_of_definition(self, scope: Scope) -> Atoms:
        return frozenset({ClassItself(scope) if scope.kind == "class" else PlainFunction(scope)})

    def _atoms_of_import(self, source: str, module: Module, depth: int) -> Atoms:
        value = self.program.find(source, module)
        if isinstance(value, ClassValue):
            return frozenset({ClassItself(value.scope)})
        if isinstance(value, Function):
            return frozenset({PlainFunction(value.scope)})
        if isinstance(value, ModuleValue):
            return frozenset({ModuleItself(value.module)})
        if isinstance(value, External):
            head, _, last = value.name.rpartition(".")
            above = self.program.module(head) if head else None
            if above is not None and above.scope is not None and last in above.scope.names:
                return self._atoms_of_member(above, last, depth)
            return frozenset({Outside(value.name)})
        return _UNKNOWN

    def _atoms_of_member(self, module: Module, name: str, depth: int) -> Atoms:
        scope = module.scope
        if scope is None or depth > MAX_DEPTH:
            return _UNKNOWN
        if (
            name in self.names.assignments(scope)
            or name in scope.children
            or name in scope.imports
            or name in scope.names
        ):
            return self._answers.answer(
                ("n", id(scope), name), lambda: self._atoms_of_name(name, scope, depth + 1)
            )
        inner = self.program.module(f"{module.name}.{name}")
        if inner is not None:
            return frozenset({ModuleItself(inner)})
        return _UNKNOWN

    def _atoms_bound(self, value: Expr, how: str, scope: Scope, depth: int) -> Atoms:
        if how == "=":
            return self.atoms_of(value, scope, depth + 1)
        if how == "with":
            managers = self.atoms_of(value, scope, depth + 1)
            return _OTHER if managers and is_outside_configs(managers) else _UNKNOWN
        if how == "for":
            if isinstance(value, Collection):
                return self._atoms_of_all(value.items, scope, depth)
            items = self.atoms_of(value, scope, depth + 1)
            return _OTHER if is_outside_configs(items) else _UNKNOWN
        return _UNKNOWN

    def _atoms_of_attribute(self, atom: Atom, name: str, depth: int) -> Atoms:
        if isinstance(atom, ConfigObject):
            assert self.sections is not None
            if name == "__dict__":
                return frozenset({ConfigMapping(atom.config)})
            child = self.sections.child(atom.config, name)
            if child is not None:
                return frozenset({ConfigObject(child)})
            if name in self.sections.fields[atom.config]:
                return _OTHER
            scope = self.sections.by_class[atom.config][0]
            method = self.program.method(scope, name)
            return (
                frozenset({BoundMethod(method, atom)})
                if method is not None
                else self._stored_in_attribute(scope, name, depth)
            )
        if isinstance(atom, ObjectOf):
            method = self.program.method(atom.scope, name)
            if method is not None:
                if any(
                    dotted(decorator) in ("property", "cached_property", "functools.cached_property")
                    for decorator in method.decorators
                ):
                    return self._atoms_returned(method, depth)
                return frozenset({BoundMethod(method, atom)})
            if name == "__dict__":
                return _UNKNOWN
            return self._stored_in_attribute(atom.scope, name, depth)
        if isinstance(atom, (Loaded, ConfigMapping)):
            if name in ("get", "pop", "items", "values", "keys", "copy", "update", "setdefault"):
                return frozenset({MappingMethod(name, atom)})
            return self._atoms_of_item(atom, name)
        if isinstance(atom, ClassItself):
            child_number = None
            for above in self.program.bases(atom.scope).classes:
                child_number = above.children.get(name)
                if child_number is not None:
                    found = above.module.summary.scopes[child_number]
                    if found.kind == "class":
                        return frozenset({ClassItself(found)})
                    return frozenset({BoundMethod(found, atom)})
                if name in self.names.assignments(above):
                    return self._answers.answer(
                        ("n", id(above), name), partial(self._atoms_of_name, name, above, depth + 1)
                    )
            return _UNKNOWN
        if isinstance(atom, ModuleItself):
            return self._atoms_of_member(atom.module, name, depth)
        if isinstance(atom, Outside):
            return frozenset({_outside_atom(f"{atom.name}.{name}")})
        followed = (PlainFunction, BoundMethod, MappingMethod)
        return _OTHER if atom is OTHER or isinstance(atom, followed) else _UNKNOWN

    def _stored_in_attribute(self, scope: Scope, name: str, depth: int) -> Atoms:
        """Return the atoms that `self.name` may be in objects of a class.

        Assignments in methods of the class, its bases and its subclasses count.
        """
        return self._answers.answer(("s", id(scope), name), lambda: self._stored_in(scope, name, depth))

    def _stored_in(self, scope: Scope, name: str, depth: int) -> Atoms:
        result: set[Atom] = set()
        known = False
        classes, _ = self.program.bases(scope)
        for owner in classes:
            for event in owner.body:
                if event.kind in ("annotate", "assign") and any(
                    isinstance(target, Name) and target.name == name for target in event.targets
                ):
                    known = True
                    if event.annotation is not None:
                        result |= self._atoms_by_annotation(event.annotation, owner) or _UNKNOWN
                    if event.value is not None:
                        result |= self.atoms_of(event.value, owner, depth + 1)
        for value, where in self.stores(name, scope):
            known = True
            result |= self.atoms_of(value, where, depth + 1)
        if not known:
            return _UNKNOWN
        return frozenset(result)

    def stores(self, name: str, owner: Scope) -> list[tuple[Expr, Scope]]:
        """Return the values assigned to an attribute of a class's objects.

        Each value comes with its scope.
        """
        classes = self.program.bases(owner).classes
        found = []
        for value, where, whose in self.names.attribute_stores(name):
            if isinstance(whose, Scope):
                if whose in classes or owner in self.program.bases(whose).classes:
                    found.append((value, where))
                continue
            # What is stored through another name than `self` may be stored in this class too.
            atoms = self.atoms_of(whose, where)
            if not atoms or any(
                atom is UNKNOWN
                or (
                    isinstance(atom, ObjectOf)
                    and (atom.scope in classes or owner in self.program.bases(atom.scope).classes)
                )
                or (
                    isinstance(atom, ConfigObject)
                    and self.sections is not None
                    and self.sections.by_class[atom.config][0] in classes
                )
                or (isinstance(atom, ClassItself) and atom.scope in classes)
                for atom in atoms
            ):
                found.append((value, where))
        return found

    def _atoms_of_item(self, atom: Atom, key: Any) -> Atoms:
        if isinstance(atom, Loaded):
            if len(atom.path) >= MAX_PATH:
                return _UNKNOWN
            if isinstance(key, str):
                return frozenset({Loaded((*atom.path, key))})
            return _UNKNOWN if key is MISSING else frozenset({Loaded((*atom.path, "[]"))})
        if isinstance(atom, ConfigMapping):
            assert self.sections is not None
            if isinstance(key, str):
                child = self.sections.child(atom.config, key)
                return frozenset({ConfigMapping(child)}) if child is not None else _OTHER
            return _UNKNOWN
        return _OTHER if atom is OTHER or isinstance(atom, (Outside, ConfigObject)) else _UNKNOWN

    def _atoms_of_parameter(self, scope: Scope, name: str, depth: int) -> Atoms:
        return self._answers.answer(("p", id(scope), name), lambda: self._parameter_of(scope, name, depth))

    def _parameter_of(self, scope: Scope, name: str, depth: int) -> Atoms:
        owner = self.program.owner(scope)
        position = next(index for index, param in enumerate(scope.params) if param.name == name)
        param = scope.params[position]
        decorators = {dotted(decorator) for decorator in scope.decorators}
        if owner is not None and position == 0 and "staticmethod" not in decorators:
            return (
                frozenset({ClassItself(owner)})
                if "classmethod" in decorators
                else frozenset({self._atom_of_object(owner)})
            )
        if param.kind in ("*", "**"):
            return _UNKNOWN
        if position == 0 and self.names.composed(scope):
            return frozenset({Loaded(())})
        outer = self.program.outer(scope) or scope
        if param.annotation is not None:
            annotated = self._atoms_by_annotation(param.annotation, outer)
            if annotated:
                return annotated
        if scope.kind == "lambda":
            return _UNKNOWN
        result: set[Atom] = set()
        if param.default is not None and constant(param.default) is not None:
            result |= self.atoms_of(param.default, outer, depth + 1)
        names = [scope.name]
        bound = 0
        if owner is not None and "staticmethod" not in decorators:
            bound = 1
            if scope.name == "__init__":
                names = [owner.name, "__init__", "cls", *self.names.subclass_names(owner)]
            elif scope.name in ("__call__", "call"):
                return _UNKNOWN
        seen = False
        for called in names:
            for where, call in self.names.callers(called):
                if called in ("__init__", "cls") and not self._may_enter(where, owner):
                    continue
                seen = True
                if call.opaque:
                    value = call.keyword(name)
                    result |= self.atoms_of(value, where, depth + 1) if value is not None else _UNKNOWN
                    continue
                value = call.argument(position - bound, name)
                if value is not None:
                    result |= self.atoms_of(value, where, depth + 1)
        if owner is None or scope.name != "__init__":
            passed = scope.name in self.names.referenced()
        else:
            passed = owner.name in self.names.referenced()
        if passed:
            result.add(UNKNOWN)
        return frozenset(result) if seen and result else _UNKNOWN

    def _may_enter(self, where: Scope, owner: Scope | None) -> bool:
        """Tell whether a scope lies in a class or a subclass of it.

        `super().__init__` or `cls(...)` in the scope may then lead to the class.
        """
        here: Scope | None = where
        while here is not None and here.kind != "class":
            here = self.program.outer(here)
        return (
            here is not None
            and owner is not None
            and any(item is owner for item in self.program.bases(here).classes)
        )

    def _atoms_by_annotation(self, annotation: Expr, scope: Scope) -> Atoms:
        """Return the atoms that an annotation allows; none where they are not known."""
        if isinstance(annotation, Literal) and isinstance(annotation.value, str):
            name = annotation.value.strip().strip("'\"")
            for opening in ("Optional[", "typing.Optional["):
                if name.startswith(opening) and name.endswith("]"):
                    name = name[len(opening) : -1].strip()
            name = name.split("|")[0].strip()
            if not name.replace(".", "").replace("_", "a").isalnum():
                return _NONE
            expr: Expr = Name(name.split(".")[0], NOWHERE)
            for part in name.split(".")[1:]:
                expr = Attribute(expr, part, NOWHERE)
            annotation = expr
        if isinstance(annotation, Subscript):
            head = dotted(annotation.base) or ""
            if head.rsplit(".", 1)[-1] == "Optional":
                return self._atoms_by_annotation(annotation.index, scope)
            if head.rsplit(".", 1)[-1] == "Union" and isinstance(annotation.index, Collection):
                parts = [item for item in annotation.index.items if not isinstance(item, Literal)]
                found = [self._atoms_by_annotation(item, scope) for item in parts]
                return frozenset().union(*found) if found and all(found) else _NONE
            return _NONE
        if isinstance(annotation, Binary) and annotation.operator == "|":
            parts = [item for item in (annotation.left, annotation.right) if not isinstance(item, Literal)]
            found = [self._atoms_by_annotation(item, scope) for item in parts]
            return frozenset().union(*found) if found and all(found) else _NONE
        value = self.program.static_value(annotation, scope)
        if isinstance(value, ClassValue):
            return frozenset({self._atom_of_object(value.scope)})
        name = dotted(annotation) or ""
        if name in _SCALARS or (isinstance(value, External) and value.name in _SCALARS):
            return _OTHER
        if isinstance(value, External) and value.name.startswith(
            ("tensorflow.", "numpy.", "keras.", "torch.")
        ):
            return _OTHER
        return _NONE

    def _atoms_of_call(self, call: Call, scope: Scope, depth: int) -> Atoms:
        result: set[Atom] = set()
        for atom in self.atoms_of(call.func, scope, depth + 1):
            result |= self._atoms_of_result(atom, call, scope, depth)
        return frozenset(result) or _UNKNOWN

    def _atoms_of_result(self, atom: Atom, call: Call, scope: Scope, depth: int) -> Atoms:
        if isinstance(atom, ClassItself):
            return frozenset({self._atom_of_object(atom.scope)})
        if isinstance(atom, PlainFunction):
            return self._atoms_returned(atom.scope, depth)
        if isinstance(atom, BoundMethod):
            owner = atom.owner
            made = self._atoms_returned(atom.scope, depth)
            if isinstance(owner, ClassItself):
                # A class method of a subclass makes objects of the subclass.
                return frozenset(
                    self._atom_of_object(owner.scope)
                    if isinstance(item, ObjectOf) and item.scope in self.program.bases(owner.scope).classes
                    else item
                    for item in made
                )
            return made
        if isinstance(atom, MappingMethod):
            name, mapping = atom.name, atom.mapping
            if name in ("get", "pop", "setdefault") and call.args:
                return self._atoms_of_item(mapping, constant(call.args[0]))
            if name == "copy":
                return frozenset({mapping})
            return _UNKNOWN
        if isinstance(atom, Outside):
            return self._atoms_of_external(atom.name, call, scope, depth)
        return _OTHER if atom is OTHER else _UNKNOWN

    def _atoms_of_external(self, name: str, call: Call, scope: Scope, depth: int) -> Atoms:
        if name in YAML_LOADS:
            return frozenset({Loaded(())})
        if name in AS_DICT:
            found = self.atoms_of(call.args[0], scope, depth + 1) if call.args else _UNKNOWN
            return frozenset(
                ConfigMapping(atom.config)
                if isinstance(atom, ConfigObject)
                else OTHER
                if is_outside_configs((atom,))
                else UNKNOWN
                for atom in found
            )
        if name in _SAME:
            sources = [*call.args, *(value for key, value in call.keywords if key is None)]
            if name == "typing.cast":
                sources = sources[1:]
            return self._atoms_of_all(sources, scope, depth) if sources else _OTHER
        if name == "getattr" and len(call.args) >= 2:
            key = constant(call.args[1])
            result: set[Atom] = set()
            for atom in self.atoms_of(call.args[0], scope, depth + 1):
                result |= self._atoms_of_attribute(atom, key, depth + 1) if isinstance(key, str) else _UNKNOWN
            return frozenset(result)
        if name in (
            "next",
            "iter",
            "max",
            "min",
            "map",
            "filter",
            "zip",
            "sorted",
            "reversed",
            "enumerate",
            "functools.partial",
            "super",
            "locals",
            "globals",
            "eval",
        ):
            return _UNKNOWN
        return frozenset({_outside_atom(f"{name}()")})

    def _atoms_returned(self, scope: Scope, depth: int) -> Atoms:
        return self._answers.answer(("r", id(scope)), lambda: self._atoms_of_returns(scope, depth))

    def _atoms_of_returns(self, scope: Scope, depth: int) -> Atoms:
        if scope.generator or scope.is_async:
            return _UNKNOWN
        if scope.returns is not None:
            outer = self.program.outer(scope) or scope
            annotated = self._atoms_by_annotation(scope.returns, outer)
            if annotated:
                return annotated
        result: set[Atom] = set()
        for event in scope.events():
            if event.kind == "return" and event.value is not None:
                result |= self.atoms_of(event.value, scope, depth + 1)
        return frozenset(result) or _OTHER


def _outside_atom(name: str) -> Atom:
    """Return the atom for a dotted name outside of the project.

    A name that is long or chains several calls becomes `?`.
    """
    return Outside(name if len(name) <= 120 and name.count("(") <= 2 else "?")
