"""The calls by which a project loads its config, and with which loader."""

from __future__ import annotations

from cfgfix.code.inference.config_atoms import (
    BoundMethod,
    ClassItself,
    Loaded,
    Outside,
    PlainFunction,
)
from cfgfix.code.inference.config_values import YAML_LOADS
from cfgfix.code.model.expressions import constant, dotted
from cfgfix.code.model.nodes import Attribute, Call, Expr, Name
from cfgfix.code.model.summary import Scope
from cfgfix.usage.key_uses import (
    Loading,
    spot,
    spot_of,
)
from cfgfix.usage.reads import Collector


class LoadCalls:
    """The calls that load a config file.

    Attributes:
        found: The uses of each key.
        follower: Follows values through the program.
        program: The linked program.
        calls: The calls that load a YAML file, each with its scope and its name.
        loadings: The places where a config is loaded.
        loading_scopes: The functions that have a loaded config, each with the line of the load.
    """

    def __init__(self, found: Collector) -> None:
        self.found = found
        self.follower = found.follower
        self.program = found.program
        self.calls: list[tuple[Scope, Call, str]] = []
        """The calls that load a YAML file."""
        for module in found.modules:
            for scope in module.summary.scopes:
                for call in scope.calls:
                    name = self._load_name(call, scope)
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
            if self.follower.names.composed(scope)
        ]
        self.loadings = hydra + [
            Loading(
                spot(call, scope),
                name,
                found.role[scope.module.path],
                unknown,
                "pyyaml-floats"
                if told & self._loaders_of(name, call, scope)
                else _loader_kind(name, call, scope),
            )
            for scope, call, name in self.calls
        ]
        self.loading_scopes = self._loading_scopes()

    def _load_name(self, call: Call, scope: Scope) -> str | None:
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
                for where, call in self.follower.names.callers(scope.name):
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


def _loader_kind(name: str, call: Call, scope: Scope) -> str:
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
