"""How a project loads its config and what stands against the file: options, constants, entry points, literals.

Everything here rests on what `config_reads.py` collected; together they make the `Usage` of a config.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cfgfix.code.inference.config_atoms import (
    CALLEES,
    UNKNOWN,
    BoundMethod,
    Callee,
    ClassItself,
    Loaded,
    Outside,
    Path,
    PlainFunction,
)
from cfgfix.code.inference.config_values import YAML_LOADS
from cfgfix.code.model.expressions import constant, dotted, is_name, is_none, text
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Attribute, Call, Collection, Compare, Expr, Literal, Name, Place, Unary
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import ClassValue, External, Function, ModuleValue
from cfgfix.core.records import dataclass, replace
from cfgfix.usage.key_statuses import use_of
from cfgfix.usage.key_uses import (
    CORE,
    LIVE,
    OVERWRITTEN,
    UNSURE,
    Entry,
    LiteralBesideKey,
    Loading,
    Option,
    Undefined,
    Usage,
    Use,
    spot,
    spot_of,
)
from cfgfix.usage.reads import Collector
from cfgfix.usage.roles import is_entry, trains

MAX_REACHED = 20_000
"""Most functions that one program is followed through."""
_VAGUE = frozenset({"load", "get", "main", "run", "save", "open", "read", "update", "close", "add", "append", "join", "format", "items", "keys", "values", "info", "debug", "warning", "error"})  # fmt: skip
"""Method names that say nothing about which class is meant."""


def usage(
    program: Program,
    root: str,
    schema: tuple[Mapping[str, Any], Mapping[str, tuple[Path, ...]]] | None,
    paths: Iterable[Path] = (),
) -> Usage:
    """Return what a project's code does with its config.

    Args:
        program: The linked program, with every file of the project.
        root: The project's folder.
        schema: The schema of the config class and, for each class as `file:Class`, its key paths; or None.
        paths: Key paths of the config files, for a project without a class.
    """
    found = Collector(program, root, schema, paths)
    about = _About(found)
    keys = {path: about.with_overwrites(path, use_of(found, path)) for path in found.keys}
    if found.sections is None and not any(item.role == CORE for item in about.loadings):
        # Where nothing loads a file, whatever fills the mapping may read it too.
        keys = {path: replace(use, status=UNSURE) for path, use in keys.items()}
    owners: dict[Path, str] = {}
    defined: dict[Path, tuple[str, int, str]] = {}
    if found.sections is not None:
        for scope, class_paths in found.sections.by_class.values():
            for path in class_paths:
                owners[path] = scope.name
        for path, owner in found.sections.paths():
            line = found.sections.fields[owner].get(path[-1], {}).get("x-line")
            scope = found.sections.by_class[owner][0]
            defined[path] = (scope.module.path, line if isinstance(line, int) else scope.line, scope.name)
    return Usage(
        keys,
        defined,
        tuple(about.loadings),
        about.options(),
        tuple(about.undefined()),
        tuple(about.entries()),
        tuple(about.literals(keys)),
        owners,
    )


@dataclass(frozen=True, slots=True)
class _Flag:
    """A command-line option as declared."""

    flag: str
    default: Any
    given: bool
    switch: bool
    required: bool
    scope: Scope
    call: Call


class _About:
    """Finds the parts of a usage that are not about reads of single keys."""

    def __init__(self, found: Collector) -> None:
        self.found = found
        self.follower = found.follower
        self.program = found.program
        self.calls: list[tuple[Scope, Call, str]] = []
        """The calls that load a YAML file."""
        for module in found.modules:
            for scope in module.summary.scopes:
                for call in scope.calls:
                    name = self._loads(call, scope)
                    if name is not None:
                        self.calls.append((scope, call, name))
        unknown = self._unknown_keys() if self.calls else "free"
        told = self._loaders_with_floats() if self.calls else frozenset()
        hydra = [
            Loading(
                spot_of(scope, scope.place, scope.name),
                "hydra.main",
                found.role[module.path],
                "free",
                "omegaconf",
            )
            for module in found.modules
            for scope in module.summary.scopes
            if self.follower.composed(scope)
        ]
        self.loadings = hydra + [
            Loading(
                spot(call, scope),
                name,
                found.role[scope.module.path],
                unknown,
                "pyyaml-floats" if told & self._loaders_of(name, call, scope) else _kind(name, call, scope),
            )
            for scope, call, name in self.calls
        ]
        self.loading_scopes = self._loading_scopes()

    def _loads(self, call: Call, scope: Scope) -> str | None:
        func = call.func
        if (
            isinstance(func, Name)
            or (isinstance(func, Attribute) and "load" in func.attribute)
            or isinstance(func, Attribute)
        ):
            last = func.attribute if isinstance(func, Attribute) else func.name
            if "load" not in last and last != "compose":
                return None
            for atom in self.follower.atoms_of(func, scope):
                if isinstance(atom, Outside) and atom.name in YAML_LOADS:
                    return atom.name
        return None

    def _loaders_with_floats(self) -> frozenset[str]:
        """Return the class names of YAML loaders that get a resolver for floats."""
        found: set[str] = set()
        for module in self.found.modules:
            for scope in module.summary.scopes:
                for call in scope.calls:
                    if not isinstance(call.func, Attribute) or call.func.attribute != "add_implicit_resolver":
                        continue
                    tag = call.argument(0, "tag")
                    stated = constant(tag) if tag is not None else None
                    if not isinstance(stated, str) or not stated.endswith("float"):
                        continue
                    owner: Expr | None = call.func.base
                    if owner is not None and dotted(owner) == "yaml":
                        owner = call.argument(3, "Loader")
                    found |= (
                        {"Loader", "FullLoader", "UnsafeLoader"}
                        if owner is None
                        else self._last_names(owner, scope)
                    )
        return frozenset(found)

    def _loaders_of(self, name: str, call: Call, scope: Scope) -> set[str]:
        """Return the class names of the loaders that a YAML call may use."""
        stated = call.argument(1, "Loader") if name.startswith("yaml.load") else None
        if stated is not None:
            return self._last_names(stated, scope)
        last = name.rsplit(".", 1)[-1].removesuffix("_all")
        return {{"safe_load": "SafeLoader", "unsafe_load": "UnsafeLoader"}.get(last, "FullLoader")}

    def _last_names(self, expr: Expr, scope: Scope) -> set[str]:
        names = {dotted(expr) or ""}
        for atom in self.follower.atoms_of(expr, scope):
            if isinstance(atom, Outside):
                names.add(atom.name)
            elif isinstance(atom, ClassItself):
                names.add(atom.scope.name)
        return {name.rsplit(".", 1)[-1] for name in names if name}

    def _unknown_keys(self) -> str:
        """Return the effect of an unknown key: `fatal`, `ignored` or `free`.

        It is fatal where a class takes a section as `Class(**section)` and has no `**` parameter; free
        where the project has no config class.
        """
        sections = self.found.sections
        if sections is None:
            return "free"
        for module in self.found.modules:
            for scope in module.summary.scopes:
                for call in scope.calls:
                    for name, value in call.keywords:
                        if name is not None:
                            continue
                        callee = self.follower.atoms_of(call.func, scope)
                        for atom in callee:
                            if not isinstance(atom, ClassItself):
                                continue
                            owner = next(
                                (
                                    above
                                    for above in self.program.bases(atom.scope).classes
                                    if id(above) in sections.by_class
                                ),
                                None,
                            )
                            if owner is None:
                                continue
                            given = self.follower.atoms_of(value, scope)
                            if any(isinstance(item, Loaded) for item in given):
                                method = self.program.method(owner, "__init__")
                                free = method is not None and any(
                                    param.kind == "**" for param in method.params
                                )
                                return "ignored" if free else "fatal"
        return "ignored"

    def _loading_scopes(self) -> list[tuple[Scope, int]]:
        """Return the functions that have a loaded config, each with the line of the load."""
        direct = {id(scope): scope for scope, _, _ in self.calls}
        found: list[tuple[Scope, int]] = []
        for scope in list(direct.values()):
            if scope.kind == "function":
                for where, call in self.follower.callers(scope.name):
                    atoms = self.follower.atoms_of(call.func, where)
                    if any(
                        isinstance(atom, (PlainFunction, BoundMethod)) and atom.scope is scope
                        for atom in atoms
                    ) and self.found.core(where):
                        found.append((where, call.end_line))
        for scope, call, _ in self.calls:
            if self.found.core(scope) and not any(
                event.kind == "return" and event.value is not None for event in scope.events()
            ):
                found.append((scope, call.end_line))
        return found

    # Overwritten

    def with_overwrites(self, path: Path, use: Use) -> Use:
        """Return the use of a key, with status `overwritten` if code always replaces it."""
        if use.status not in (LIVE, UNSURE):
            return use
        writes = self.found.keys[path].writes
        if not writes:
            return use
        for target, scope, event, value in writes:
            if (
                scope.name == "__post_init__"
                and event is not None
                and event.kind == "assign"
                and self._always(scope, event)
                and _is_fixed(value)
                and self.found.sections is not None
                and not self._read_before(path, scope, event.line)
            ):
                return replace(use, status=OVERWRITTEN, writes=(spot(target, scope),))
        if use.status != LIVE or not self.loading_scopes:
            return use
        places = []
        for scope, line in self.loading_scopes:
            here = [
                (target, event)
                for target, where, event, value in writes
                if where is scope
                and event is not None
                and event.kind == "assign"
                and event.line > line
                and self._always(scope, event)
                and _is_fixed(value)
                and not self._read_before(path, scope, event.line)
            ]
            if not here:
                return use
            places.append(spot(here[0][0], scope))
        return replace(use, status=OVERWRITTEN, writes=tuple(places))

    def _read_before(self, path: Path, scope: Scope, line: int) -> bool:
        return any(
            where is scope and spot(expr, where).line <= line for expr, where in self.found.keys[path].reads
        )

    def _always(self, scope: Scope, event: Event) -> bool:
        """Tell whether a statement runs whenever its function runs."""
        return all(
            block.kind in ("body", "with", "try") or _is_main(block.test)
            for block in scope.block_chain(event.block)
        )

    # Options

    def options(self) -> dict[Path, tuple[Option, ...]]:
        """Return for each key the command-line options that are assigned to it."""
        result: dict[Path, tuple[Option, ...]] = {}
        flags: dict[str, dict[str, _Flag]] = {}
        loading = {scope.module.path for scope, _ in self.loading_scopes}
        for path, key in self.found.keys.items():
            options: list[Option] = []
            for target, scope, event, value in key.writes:
                module: Module = scope.module
                if not self.found.core(scope):
                    continue
                if module.path not in flags:
                    flags[module.path] = _flags(module)
                name = self._option(value, flags[module.path])
                if name is None:
                    continue
                flag = flags[module.path][name]
                options.append(
                    Option(
                        flag.flag,
                        None if not flag.given or flag.default is None else repr(flag.default),
                        spot(target, scope),
                        spot(flag.call, flag.scope),
                        event is not None
                        and module.path in loading
                        and self._replaces(scope, event, name, flag),
                    )
                )
            if not options:
                continue
            # Another program that loads the file and has no such option still uses the value.
            if {option.spot.path for option in options if option.always} != loading:
                options = [replace(option, always=False) for option in options]
            result[path] = tuple(options[:6])
        return result

    def _option(self, value: Expr, flags: Mapping[str, _Flag]) -> str | None:
        """Return the name of the option that an expression reads; None for none."""
        if isinstance(value, Call):
            call = value
            if (
                isinstance(call.func, Name)
                and call.func.name in ("int", "float", "str", "bool")
                and len(call.args) == 1
            ):
                value = call.args[0]
        found = self.found.uses.access(value)
        if found is None or found.name not in flags:
            return None
        name = dotted(found.base) or ""
        return (
            found.name
            if name.rsplit(".", 1)[-1].lower()
            in ("args", "opt", "opts", "options", "flags", "a", "parsed", "ns", "namespace")
            else None
        )

    def _replaces(self, scope: Scope, event: Event, name: str, flag: _Flag) -> bool:
        """Tell whether an assignment from an option always runs.

        The option must always have a value.
        """
        present = flag.switch or flag.required or (flag.given and flag.default is not None)
        if not present:
            return False
        for block in scope.block_chain(event.block):
            if block.kind in ("body", "with", "try") or _is_main(block.test):
                continue
            if block.kind != "if" or not block.branch or block.test is None:
                return False
            test = block.test
            if (
                isinstance(test, Compare)
                and len(test.rights) == 1
                and test.rights[0].operator == "is not"
                and is_none(test.rights[0].right)
            ):
                test = test.left
            elif not flag.default and not flag.required:
                return False
            found = self.found.uses.access(test)
            if found is None or found.name != name:
                return False
        return True

    # Reads of what no class has

    def undefined(self) -> Iterator[Undefined]:
        """Yield the reads of names that a config class does not define."""
        sections = self.found.sections
        if sections is None:
            return
        seen: set[tuple[str, int, str]] = set()
        for owner, name, expr, scope, fatal in self.found.undefined:
            if not self.found.core(scope) or name.startswith("_"):
                continue
            config = sections.by_class[owner][0]
            classes, outside = self.program.bases(config)
            if name in sections.fields[owner] or any(name in above.names for above in classes):
                continue
            if any(base not in ("object", "abc.ABC", "typing.Generic") for base in outside):
                continue
            if self.program.method(config, "__getattr__") is not None or self.follower.stores(name, config):
                continue
            if self._is_asked(name, scope):
                continue
            place = spot(expr, scope)
            if (place.path, place.line, name) in seen:
                continue
            seen.add((place.path, place.line, name))
            caught = False
            for call in scope.calls:
                if (*call.place.start, *call.place.end) == (
                    place.line,
                    place.column,
                    place.end_line,
                    place.end_column,
                ):
                    caught = any(block.kind == "try" for block in scope.block_chain(call.block))
            elsewhere = tuple(
                ".".join((*paths[0], name))
                for other, (_, paths) in sections.by_class.items()
                if other != owner and name in sections.fields[other]
            )
            yield Undefined(
                config.name, name, place, fatal and not caught and not self._is_tried(expr, scope), elsewhere
            )

    def _is_asked(self, name: str, scope: Scope) -> bool:
        """Tell whether a function asks for a name with `hasattr`."""
        return any(
            is_name(call.func, "hasattr") and len(call.args) == 2 and constant(call.args[1]) == name
            for call in scope.calls
        )

    def _is_tried(self, expr: Expr, scope: Scope) -> bool:
        """Tell whether an expression stands in a `try`, or in an unknown place."""
        here: Any = expr
        for _ in range(200):
            parent, _role = self.found.loads.around.get(id(here), (None, None))
            if isinstance(parent, Event):
                return any(block.kind == "try" for block in scope.block_chain(parent.block))
            if not isinstance(parent, Expr):
                return True
            here = parent
        return True

    # Entry points

    def entries(self) -> Iterator[Entry]:
        """Yield the training programs, each with whether it may load a config file."""
        loading = {id(scope) for scope, _, _ in self.calls}
        if not loading:
            return
        by_name: dict[str, list[Scope]] = {}
        for module in self.found.modules:
            for scope in module.summary.scopes:
                if scope.kind == "function":
                    by_name.setdefault(scope.name, []).append(scope)
        for module in self.found.modules:
            if self.found.role[module.path] != CORE or module.path.endswith(".ipynb") or not is_entry(module):
                continue
            call = trains(module)
            if call is None or not self._configures(module):
                continue
            reached = self._scopes_entered(module, by_name)
            main = next(block for block in module.summary.scopes[0].blocks if _is_main(block.test))
            yield Entry(
                spot_of(module.summary.scopes[0], Place(main.line, 0, main.line, 2), "__main__"),
                bool(reached & loading),
                spot(call[1], call[0]),
            )

    def _configures(self, module: Module) -> bool:
        """Tell whether a module makes an object of a config class."""
        sections = self.found.sections
        if sections is None:
            return False
        return any(
            isinstance(atom, ClassItself)
            and any(id(above) in sections.by_class for above in self.program.bases(atom.scope).classes)
            for scope in module.summary.scopes
            for call in scope.calls
            if isinstance(call.func, (Name, Attribute))
            for atom in self.follower.atoms_of(call.func, scope)
        )

    def _scopes_entered(self, module: Module, by_name: Mapping[str, list[Scope]]) -> set[int]:
        """Return the scopes that a program may enter, by identity.

        A call of an unknown object enters all methods of that name in the files that the program imports.
        """
        near = self._files_imported(module)
        pending: list[Scope] = list(module.summary.scopes)
        reached = {id(scope) for scope in pending}
        while pending and len(reached) < MAX_REACHED:
            scope = pending.pop()
            for call in scope.calls:
                func = call.func
                targets: list[Scope] = []
                atoms = self.follower.atoms_of(func, scope)
                for atom in atoms:
                    if isinstance(atom, (PlainFunction, BoundMethod)):
                        targets.append(atom.scope)
                    elif isinstance(atom, ClassItself):
                        method = self.program.method(atom.scope, "__init__")
                        targets += [method] if method is not None else []
                if not atoms or UNKNOWN in atoms:
                    name = (
                        func.attribute
                        if isinstance(func, Attribute)
                        else func.name
                        if isinstance(func, Name)
                        else ""
                    )
                    vague = name in _VAGUE
                    targets += [
                        item
                        for item in by_name.get(name, ())
                        if item.module.path in near and (not vague or item.module is scope.module)
                    ]
                for target in targets:
                    if id(target) not in reached:
                        reached.add(id(target))
                        pending.append(target)
        return reached

    def _files_imported(self, module: Module) -> set[str]:
        """Return the files that a program imports, directly or through other files."""
        found = {module.path}
        pending = [module]
        while pending:
            here = pending.pop()
            for scope in here.summary.scopes:
                for source in (*scope.imports.values(), *scope.stars):
                    value = self.program.find(source, here)
                    other: Module | None = None
                    if isinstance(value, ModuleValue):
                        other = value.module
                    elif isinstance(value, (ClassValue, Function)):
                        other = value.scope.module
                    elif isinstance(value, External) and "." in value.name:
                        other = self.program.module(value.name.rpartition(".")[0])
                    if other is not None and other.path not in found:
                        found.add(other.path)
                        pending.append(other)
        return found

    # Literals

    def literals(self, keys: Mapping[Path, Use]) -> Iterator[LiteralBesideKey]:
        """Yield literal arguments named like a key of the config that the caller has.

        The key must be live, and another call must give the same parameter the key's value.
        """
        sections = self.found.sections
        for module in self.found.modules:
            if self.found.role[module.path] != CORE or module.path.endswith(".ipynb"):
                continue
            for scope in module.summary.scopes:
                if scope.kind != "function":
                    continue
                at_hand: bool | None = None
                for call in scope.calls:
                    for name, value in call.keywords:
                        paths = self.found.by_name.get(name or "", ())
                        if (
                            len(paths) != 1
                            or not isinstance(value, Literal)
                            or isinstance(value.value, (bool, type(None)))
                        ):
                            continue
                        if keys[paths[0]].status != LIVE:
                            continue
                        atoms = self.follower.atoms_of(call.func, scope)
                        callee = [atom for atom in atoms if isinstance(atom, CALLEES)]
                        if not callee or len(callee) < len(atoms):
                            continue
                        if sections is not None and any(
                            isinstance(atom, ClassItself)
                            and any(
                                id(above) in sections.by_class
                                for above in self.program.bases(atom.scope).classes
                            )
                            for atom in callee
                        ):
                            continue
                        if not self._means(callee, name or "", paths[0]):
                            continue
                        if at_hand is None:
                            at_hand = self._at_hand(scope)
                        if at_hand:
                            yield LiteralBesideKey(paths[0], value.value, spot(call, scope))

    def _means(self, callee: list[Callee], name: str, path: Path) -> bool:
        """Tell whether another call gives the key's value to the same parameter."""
        for atom in callee:
            function = (
                self.program.method(atom.scope, "__init__") if isinstance(atom, ClassItself) else atom.scope
            )
            plain = [param.name for param in function.params if param.kind == "plain"] if function else []
            bound = 0 if isinstance(atom, PlainFunction) else 1
            place = plain.index(name) - bound if name in plain[bound:] else None
            for where, call in self.follower.callers(atom.scope.name):
                value = call.argument(place, name) if place is not None else call.keyword(name)
                if value is None or isinstance(value, Literal):
                    continue
                called = self.follower.atoms_of(call.func, where)
                if any(
                    type(other) is type(atom) and other.scope is atom.scope
                    for other in called
                    if isinstance(other, CALLEES)
                ) and (self.found.uses.key_of(value, where) == path):
                    return True
        return False

    def _at_hand(self, scope: Scope) -> bool:
        """Tell whether a function has a config in a variable or in its object."""
        for places in self.found.loads.names[id(scope)].values():
            if self.found.uses.paths_of(self.follower.atoms_of(places[0], scope)):
                return True
        owner = self.program.owner(scope)
        return owner is not None and any(
            self.found.uses.paths_of(self.follower.atoms_of(value, where))
            for name in ("config", "cfg", "hparams", "hps")
            for value, where in self.follower.stores(name, owner)
        )


def _kind(name: str, call: Call, scope: Scope) -> str:
    """Return cfgfix's name for the loader of a YAML call; empty if unknown."""
    if name.startswith(("omegaconf", "hydra")):
        return "omegaconf"
    if name.startswith("ruamel"):
        # `yaml.version = (1, 1)` and `load(..., version=(1, 1))` ask for the old rules.
        old = constant(call.keyword("version")) in ((1, 1), [1, 1], "1.1") or any(
            event.kind == "assign"
            and event.value is not None
            and constant(event.value) in ((1, 1), [1, 1], "1.1")
            and any(
                isinstance(target, Attribute) and target.attribute == "version" for target in event.targets
            )
            for other in scope.module.summary.scopes
            for event in other.events()
        )
        return "pyyaml" if old else "ruamel"
    stated = call.argument(1, "Loader")
    last = (dotted(stated) or "").rsplit(".", 1)[-1] if stated is not None else name.rsplit(".", 1)[-1]
    if last in ("FullLoader", "CFullLoader", "full_load"):
        return "pyyaml-full"
    if last in ("UnsafeLoader", "CUnsafeLoader", "Loader", "CLoader", "unsafe_load"):
        return "pyyaml-unsafe"
    if last in ("SafeLoader", "CSafeLoader", "safe_load", "load", "safe_load_all", "load_all"):
        return "pyyaml"
    # A loader of the project's own may read values in another way.
    return ""


def _is_fixed(value: Expr) -> bool:
    """Tell whether an expression is a literal, or a collection of literals."""
    if isinstance(value, Unary):
        return _is_fixed(value.operand)
    return isinstance(value, Literal) or (
        isinstance(value, Collection) and all(_is_fixed(item) for item in value.items)
    )


def _is_main(test: Expr | None) -> bool:
    return test is not None and isinstance(test, Compare) and is_name(test.left, "__name__")


def _flags(module: Module) -> dict[str, _Flag]:
    """Return the command-line options of a module by the attribute that holds each."""
    found: dict[str, _Flag] = {}
    for scope in module.summary.scopes:
        for call in scope.calls:
            if not isinstance(call.func, Attribute) or call.func.attribute != "add_argument":
                continue
            names = [
                item.value for item in call.args if isinstance(item, Literal) and isinstance(item.value, str)
            ]
            long = next((name for name in names if name.startswith("--")), None)
            if long is None:
                continue
            dest = constant(call.keyword("dest"))
            name = dest if isinstance(dest, str) else long.lstrip("-").replace("-", "_")
            stated = call.keyword("default")
            action = constant(call.keyword("action"))
            switch = action in ("store_true", "store_false") and stated is None
            default: Any = constant(stated) if stated is not None else None
            given = stated is not None
            if stated is not None and not isinstance(
                default, (str, int, float, bool, type(None), tuple, list)
            ):
                default = text(stated)
                given = False
            if switch:
                default, given = action == "store_false", True
            required = constant(call.keyword("required")) is True
            known = found.get(name)
            if known is not None and (known.default, known.given, known.required) != (
                default,
                given,
                required,
            ):
                # Two parsers of one program with an option of that name: which one is meant is not known.
                given = switch = required = False
            found[name] = _Flag(long, default, given, switch, required, scope, call)
    return found
