"""Names that the project's own modules and classes do not have."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from cfgfix.code.checks.common import names_set_by_text
from cfgfix.code.model.expressions import dotted, text, walk
from cfgfix.code.model.hit import hit_in
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Attribute, Expr, Name
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import ClassValue, ModuleValue
from cfgfix.core.errors import nearest
from cfgfix.rules.hit import Hit

_OPENING = frozenset({"globals", "locals", "vars", "exec", "setattr", "__import__", "import_module"})
"""Calls after which a module may have names that it does not write."""
_ROOTS = ("", ".", "src")
"""Folders from which programs are started."""
_OF_CLASSES = frozenset(dir(type))
_PLAIN_DECORATORS = ("dataclass", "dataclasses.dataclass")


MAX_NAMES = 1_000
"""Most names of one module or class among which a near one is looked for."""


def absent_name(program: Program) -> Iterator[Hit]:
    """Find names that code reads from a project module or class that lacks them.

    Examples: `settings.EXPORT_PATH` and `from settings import EXPORT_PATH` where `settings.py` has
    `EXPORT_DIR`.
    """
    for module in program.modules:
        if not any(scope.imports or scope.children for scope in module.summary.scopes):
            continue
        for scope in module.summary.scopes:
            for event in scope.events():
                if event.kind == "import":
                    yield from _absent_imports(program, scope, event)
                else:
                    yield from _absent_members(program, scope, event)


def _absent_imports(program: Program, scope: Scope, event: Event) -> Iterator[Hit]:
    for _, source in event.imports:
        head, _, name = source.rpartition(".")
        if not head.strip(".") or _is_special(name) or _for_types(scope, event.block):
            continue
        module = program.module(head, scope.module)
        if module is None or not _is_meant(program, module, head, scope.module):
            continue
        known = _names_of(program, module)
        if known is None or name in known or _is_beside(module, name) or name in _set_elsewhere(program):
            continue
        yield _unknown_name_hit(scope, event, module.path, name, known, "ImportError")


def _absent_members(program: Program, scope: Scope, event: Event) -> Iterator[Hit]:
    for expr in _attributes_read(event):
        name = expr.attribute
        if _is_special(name):
            continue
        owner = _owner_of_name(program, scope, expr.base)
        known: frozenset[str] | None
        if isinstance(owner, ModuleValue):
            if not _is_meant(program, owner.module, _import_source(scope, expr.base), scope.module):
                continue
            known, shown = _names_of(program, owner.module), owner.module.path
            if known is not None and _is_beside(owner.module, name):
                continue
        elif isinstance(owner, ClassValue):
            known, shown = _members_of(program, owner.scope), owner.scope.name
        else:
            continue
        if known is None or name in known or name in _set_elsewhere(program):
            continue
        yield _unknown_name_hit(scope, event, shown, name, known, "AttributeError", expr)


def _unknown_name_hit(
    scope: Scope,
    event: Event,
    owner: str,
    name: str,
    known: frozenset[str],
    error: str,
    expr: Attribute | None = None,
) -> Hit:
    near = nearest(name, sorted(known)) if len(known) <= MAX_NAMES else None
    return hit_in(
        scope,
        expr.place if expr is not None else event.place,
        event.block,
        values={
            "owner": owner,
            "name": name,
            "error": error,
            "near": f" (did you mean `{near}`?)" if near else "",
        },
    )


def _is_special(name: str) -> bool:
    return name == "*" or (name.startswith("__") and name.endswith("__"))


def _for_types(scope: Scope, block: int) -> bool:
    """Tell whether a statement runs for type checkers only."""
    return any(
        here.test is not None and text(here.test).endswith("TYPE_CHECKING")
        for here in scope.block_chain(block)
    )


def _attributes_read(event: Event) -> Iterator[Attribute]:
    """Yield the attributes that a statement reads, without those that it sets."""
    tops: list[Expr] = [top for top in (event.value, *event.managers) if top is not None]
    for target in event.targets:
        tops += [target.base] if isinstance(target, Attribute) else [target]
    for top in tops:
        for part in walk(top):
            if isinstance(part, Attribute) and isinstance(part.base, (Name, Attribute)):
                yield part


def _owner_of_name(program: Program, scope: Scope, base: Expr) -> ModuleValue | ClassValue | None:
    """Return the module or class that a name certainly stands for, or None."""
    shown = dotted(base)
    if shown is None:
        return None
    head = shown.partition(".")[0]
    here = _binding_scope(scope, head)
    if here is None or head in here.outer:
        return None
    bound = here.binding(head)
    if head in here.children:
        if bound or head in here.imports or not _is_defined_once(here, head):
            return None
    elif head not in here.imports or len(bound) != 1:
        return None
    value = program.static_value(base, scope)
    return value if isinstance(value, (ModuleValue, ClassValue)) else None


def _is_defined_once(scope: Scope, name: str) -> bool:
    scopes = scope.module.summary.scopes
    found = [scopes[event.inner] for event in scope.events_of("define") if scopes[event.inner].name == name]
    return len(found) == 1


def _binding_scope(scope: Scope, name: str) -> Scope | None:
    """Return the scope that binds a name as seen from another scope, or None."""
    here: Scope | None = scope
    while here is not None:
        if (here is scope or here.kind != "class") and (
            name in here.names or name in here.imports or name in here.children
        ):
            return here
        here = here.module.summary.scopes[here.parent] if here.parent >= 0 else None
    return None


def _import_source(scope: Scope, base: Expr) -> str:
    """Return the dotted path that a name is imported from, or the name itself."""
    shown = dotted(base) or ""
    head, _, rest = shown.partition(".")
    here = _binding_scope(scope, head)
    source = here.imports.get(head, head) if here is not None else head
    return f"{source}.{rest}" if rest else source


def _is_meant(program: Program, module: Module, source: str, importer: Module) -> bool:
    """Tell whether an import certainly resolves to a given file.

    The file lies beside, or is found from the root and no other file has the name.
    """
    if source.startswith("."):
        return True
    if source.partition(".")[0] in sys.stdlib_module_names:
        return False
    if module.folder == importer.folder or (
        module.is_package and os.path.dirname(module.folder) == importer.folder
    ):
        return True
    if (
        "." not in source
        and os.path.dirname(module.folder if module.is_package else module.path) not in _ROOTS
    ):
        # Another package may have the name.
        return False
    return _files_named(program).get(module.name.rpartition(".")[2], 0) == 1


@once
def _files_named(program: Program) -> dict[str, int]:
    """Return how many modules of the project have each file name."""
    found: dict[str, int] = {}
    for key in program.files:
        stem = os.path.splitext(os.path.basename(key))[0]
        if stem == "__init__":
            stem = os.path.basename(os.path.dirname(key))
        found[stem] = found.get(stem, 0) + 1
    return found


@once
def _names_of(program: Program, module: Module) -> frozenset[str] | None:
    """Return all names that a module has, or None where it may have others."""
    return _all_names(program, module, set())


def _all_names(program: Program, module: Module, seen: set[str]) -> frozenset[str] | None:
    root = module.scope
    if root is None or module.summary.problem is not None or not module.path.endswith(".py"):
        return None
    if module.path in seen:
        return frozenset()
    seen.add(module.path)
    if "__getattr__" in root.children or "sys" in root.imports:
        return None
    found = {*root.names, *root.children, *root.imports}
    for scope in module.summary.scopes:
        found.update(scope.outer)
        if any((dotted(call.func) or "").rpartition(".")[2] in _OPENING for call in scope.calls):
            return None
    for star in root.stars:
        inner = program.module(star, module)
        names = _all_names(program, inner, seen) if inner is not None else None
        if names is None:
            return None
        found |= names
    return frozenset(found)


@once
def _members_of(program: Program, owner: Scope) -> frozenset[str] | None:
    """Return all names that a class has, or None where it may have others."""
    classes, outside = program.bases(owner)
    if any(name not in ("object", "builtins.object") for name in outside):
        return None
    if sum(len(item.bases) for item in classes) > len(classes) - 1 + len(outside):
        return None
    found = set(_OF_CLASSES)
    for item in classes:
        if any(dotted(decorator) not in _PLAIN_DECORATORS for decorator in item.decorators):
            return None
        if _names_of(program, item.module) is None or _has_metaclass(program, item):
            return None
        found |= {*item.names, *item.children, *item.imports}
    return frozenset(found)


def _has_metaclass(program: Program, owner: Scope) -> bool:
    around = program.outer(owner)
    return around is None or any(
        event.inner == owner.number and event.value is not None for event in around.events_of("define")
    )


@once
def _set_elsewhere(program: Program) -> frozenset[str]:
    """Return the names of attributes that any code sets, `setattr` included."""
    found: set[str] = set()
    for module in program.all_modules():
        for scope in module.summary.scopes:
            for event in scope.events():
                for target in event.targets:
                    found.update(part.attribute for part in walk(target) if isinstance(part, Attribute))
            found.update(names_set_by_text(scope))
    return frozenset(found)


def _is_beside(module: Module, name: str) -> bool:
    """Tell whether a package contains a file or folder of a given name."""
    if not module.is_package:
        return False
    try:
        return any(entry.partition(".")[0] == name for entry in os.listdir(module.folder))
    except OSError:
        return True
