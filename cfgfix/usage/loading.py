"""What a project's code does with its config, put together from what `reads.py` collected of each key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cfgfix.code.inference.config_atoms import (
    Path,
)
from cfgfix.code.model.expressions import constant, is_name
from cfgfix.code.model.nodes import Collection, Expr, Literal, Unary
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Event, Scope
from cfgfix.core.records import replace
from cfgfix.usage.assigned_options import AssignedOptions
from cfgfix.usage.constants_beside_keys import ConstantsBesideKeys
from cfgfix.usage.key_statuses import use_of
from cfgfix.usage.key_uses import (
    CORE,
    LIVE,
    OVERWRITTEN,
    UNSURE,
    Undefined,
    Usage,
    Use,
    spot,
)
from cfgfix.usage.load_calls import LoadCalls
from cfgfix.usage.reads import Collector
from cfgfix.usage.roles import is_main
from cfgfix.usage.training_programs import TrainingPrograms


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
    loads = LoadCalls(found)
    about = _AssignedKeys(loads)
    keys = {path: about.with_overwrites(path, use_of(found, path)) for path in found.keys}
    if found.sections is None and not any(item.role == CORE for item in loads.loadings):
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
        tuple(loads.loadings),
        AssignedOptions(loads).by_key(),
        tuple(about.undefined()),
        tuple(TrainingPrograms(loads).entries()),
        tuple(ConstantsBesideKeys(loads).found(keys)),
        owners,
    )


class _AssignedKeys:
    """Finds keys that code always replaces, and attributes that no class defines."""

    def __init__(self, loads: LoadCalls) -> None:
        self.loads = loads
        self.found = loads.found
        self.program = loads.program
        self.follower = loads.follower

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
                and _runs_always(scope, event)
                and _is_fixed(value)
                and self.found.sections is not None
                and not self._read_before(path, scope, event.line)
            ):
                return replace(use, status=OVERWRITTEN, writes=(spot(target, scope),))
        if use.status != LIVE or not self.loads.loading_scopes:
            return use
        places = []
        for scope, line in self.loads.loading_scopes:
            here = [
                (target, event)
                for target, where, event, value in writes
                if where is scope
                and event is not None
                and event.kind == "assign"
                and event.line > line
                and _runs_always(scope, event)
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


def _is_fixed(value: Expr) -> bool:
    """Tell whether an expression is a literal, or a collection of literals."""
    if isinstance(value, Unary):
        return _is_fixed(value.operand)
    return isinstance(value, Literal) or (
        isinstance(value, Collection) and all(_is_fixed(item) for item in value.items)
    )


def _runs_always(scope: Scope, event: Event) -> bool:
    """Tell whether a statement runs whenever its function runs."""
    return all(
        block.kind in ("body", "with", "try") or is_main(block.test)
        for block in scope.block_chain(event.block)
    )
