"""The command-line options that a program assigns to keys of its config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cfgfix.code.inference.config_atoms import (
    Path,
)
from cfgfix.code.model.expressions import constant, dotted, is_none, text
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Attribute, Call, Compare, Expr, Literal, Name
from cfgfix.code.model.summary import Event, Scope
from cfgfix.core.records import dataclass, replace
from cfgfix.usage.key_uses import (
    Option,
    spot,
)
from cfgfix.usage.load_calls import LoadCalls
from cfgfix.usage.roles import is_main


@dataclass(frozen=True, slots=True)
class _DeclaredFlag:
    """A command-line option as declared."""

    flag: str
    default: Any
    given: bool
    switch: bool
    required: bool
    scope: Scope
    call: Call


class AssignedOptions:
    """Finds the options that are assigned to keys of a config."""

    def __init__(self, loads: LoadCalls) -> None:
        self._loads = loads
        self._found = loads.found

    def by_key(self) -> dict[Path, tuple[Option, ...]]:
        """Return for each key the command-line options that are assigned to it."""
        result: dict[Path, tuple[Option, ...]] = {}
        flags: dict[str, dict[str, _DeclaredFlag]] = {}
        loading = {scope.module.path for scope, _ in self._loads.loading_scopes}
        for path, key in self._found.keys.items():
            options: list[Option] = []
            for target, scope, event, value in key.writes:
                module: Module = scope.module
                if not self._found.core(scope):
                    continue
                if module.path not in flags:
                    flags[module.path] = _flags_by_attribute(module)
                name = self._option_read(value, flags[module.path])
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
                        and self._always_replaces(scope, event, name, flag),
                    )
                )
            if not options:
                continue
            # Another program that loads the file and has no such option still uses the value.
            if {option.spot.path for option in options if option.always} != loading:
                options = [replace(option, always=False) for option in options]
            result[path] = tuple(options[:6])
        return result

    def _option_read(self, value: Expr, flags: Mapping[str, _DeclaredFlag]) -> str | None:
        """Return the name of the option that an expression reads; None for none."""
        if isinstance(value, Call):
            call = value
            if (
                isinstance(call.func, Name)
                and call.func.name in ("int", "float", "str", "bool")
                and len(call.args) == 1
            ):
                value = call.args[0]
        found = self._found.uses.access(value)
        if found is None or found.name not in flags:
            return None
        name = dotted(found.base) or ""
        return (
            found.name
            if name.rsplit(".", 1)[-1].lower()
            in ("args", "opt", "opts", "options", "flags", "a", "parsed", "ns", "namespace")
            else None
        )

    def _always_replaces(self, scope: Scope, event: Event, name: str, flag: _DeclaredFlag) -> bool:
        """Tell whether an assignment from an option always runs.

        The option must always have a value.
        """
        present = flag.switch or flag.required or (flag.given and flag.default is not None)
        if not present:
            return False
        for block in scope.block_chain(event.block):
            if block.kind in ("body", "with", "try") or is_main(block.test):
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
            found = self._found.uses.access(test)
            if found is None or found.name != name:
                return False
        return True


def _flags_by_attribute(module: Module) -> dict[str, _DeclaredFlag]:
    """Return the command-line options of a module by the attribute that holds each."""
    found: dict[str, _DeclaredFlag] = {}
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
            found[name] = _DeclaredFlag(long, default, given, switch, required, scope, call)
    return found
