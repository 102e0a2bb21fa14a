"""Environment variables of TensorFlow, set too late or to a number that costs speed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from cfgfix.code.checks.runtime_start import LIST_DEVICES, callee_text, starts_runtime
from cfgfix.code.inference.environment import environment_of
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.inference.references import api
from cfgfix.code.model.expressions import MISSING, constant, dotted, is_name, text
from cfgfix.code.model.hit import Repair, Rewrite, at, hit_in
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Boolean, Call, Subscript
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import ModuleValue, Site
from cfgfix.code.tensorflow.requirement import LATER_MINORS
from cfgfix.rules.hit import Hit

_EARLY = ("TF_CPP_MIN_LOG_LEVEL", "TF_CPP_MIN_VLOG_LEVEL", "TF_ENABLE_ONEDNN_OPTS")
"""Read while TensorFlow is imported; TF_USE_LEGACY_KERAS is not, but at the first use of `tf.keras` (`lazy_loader.py:129`)."""
_DEVICE_TIME = (
    "CUDA_VISIBLE_DEVICES",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_GPU_THREAD_MODE",
    "TF_GPU_THREAD_COUNT",
    "TF_GPU_ALLOCATOR",
    "TF_XLA_FLAGS",
    "XLA_FLAGS",
)
"""Read when the devices or the compiler are first used."""


def environment_late(program: Program) -> Iterator[Hit]:
    """Find environment variables set after TensorFlow has read them."""
    # A file that leaves TensorFlow to others of the project may set them as well.
    for module in program.all_modules(words=(b"TF_CPP_MIN_", b"TF_ENABLE_ONEDNN_OPTS")):
        if "environ" not in module.summary.words or module.scope is None:
            continue
        for scope, name, _, event, place in environment_of(program, module):
            if name in _EARLY:
                if written_for_one(program, scope):
                    # TensorFlow 1 reads them at its first message, not at its import (tried on 1.14 and 1.15).
                    continue
                line = _import_line(module.scope, scope, event)
                through = _imported_through(program, module, scope, event, name)
                by = ""
                if through is not None and (line is None or through[0] < line):
                    line, by = through
                if line is not None and not any(
                    where is module.scope and other == name and earlier.line < line
                    for where, other, _, earlier, _ in environment_of(program, module)
                ):
                    yield hit_in(
                        scope,
                        place,
                        event.block,
                        {"variable": name, "why": f"TensorFlow read it at its import{by} in line {line}"},
                        # A level of the log changes no run.
                        severity="info"
                        if "LOG_LEVEL" in name or not _read_at_import(program) or _for_children(scope, event)
                        else "warning",
                        **_above_import(module.scope, scope, event, line, name),
                    )
            elif name in _DEVICE_TIME:
                first = next(
                    (
                        site
                        for site in flow_of(program).within(scope)
                        if (
                            starts_runtime(site)
                            or (site.name in LIST_DEVICES and name == "CUDA_VISIBLE_DEVICES")
                        )
                        and site.call.end_line < event.line
                        and inside(scope, event.block, site.call.block)
                    ),
                    None,
                )
                if (
                    first is not None
                    and not written_for_one(program, scope)
                    and not _there_are_none(first, event)
                ):
                    yield hit_in(
                        scope,
                        place,
                        event.block,
                        {
                            "variable": name,
                            "why": f"the devices were set up by {callee_text(first)} in line {first.call.line}",
                        },
                        related=(at(first, label="the devices are set up here"),),
                        severity="info" if _for_children(scope, event) or _has_workers(module) else None,
                        **_above_devices(scope, event, first),
                    )


def _there_are_none(listed: Site, event: Event) -> bool:
    """Tell whether a statement is in the `else` of a test for the listed devices."""
    scope = listed.scope
    names = {
        dotted(target) for item in scope.events() if item.value is listed.call for target in item.targets
    }
    return any(
        block.kind == "if"
        and not block.branch
        and block.test is not None
        # The other branch of `gpus and visible != "-1"` is for who has none, or has hidden them.
        and any(
            dotted(part) in names or part is listed.call
            for part in (
                block.test.operands
                if isinstance(block.test, Boolean) and block.test.operator == "and"
                else (block.test,)
            )
        )
        for block in scope.block_chain(event.block)
    )


def _above_import(top: Scope, scope: Scope, event: Event, line: int, name: str) -> Repair:
    """Return the fix that moves a variable's assignment above the import, or why not."""
    goal = next((item for item in top.body if item.kind == "import" and item.line == line), None)
    if scope is not top or event.block != 0 or goal is None or not _sets_constant(event):
        return {"no_fix": "it stands in a function or under a condition; the import is elsewhere"}
    package = next(
        (
            item
            for item in top.body
            if item.kind == "import" and {source for _, source in item.imports} == {"os"}
        ),
        None,
    )
    if package is None:
        return {"no_fix": "os is not imported by a statement of its own"}
    late = package.place > goal.place
    first, others = (package.place, (event.place,)) if late else (event.place, ())
    return {
        "rewrites": (Rewrite("move-statement", top, first, target=goal.place, others=others),),
        # A level of the log changes no run; other kernels change the last digits.
        "safety": "safe" if "LOG_LEVEL" in name else "unsafe",
    }


def _above_devices(scope: Scope, event: Event, first: Site) -> Repair:
    """Return the fix that moves a variable's assignment above the first device use."""
    goal = statement_of(scope, first.call.place)
    if goal is None or goal.block != event.block or goal.bodies or not _sets_constant(event):
        return {"no_fix": "it stands under another condition than the first use of a device"}
    if not any(item.kind == "import" and item.place < goal.place for item in scope.binding("os")) and (
        scope.kind == "module" or "os" in scope.imports
    ):
        return {"no_fix": "os is imported later"}
    return {
        "rewrites": (Rewrite("move-statement", scope, event.place, target=goal.place),),
        # Other GPUs may be seen then than were seen before.
        "safety": "unsafe",
    }


def _sets_constant(event: Event) -> bool:
    """Tell whether a statement sets `os.environ[...]` to a constant."""
    value = event.value
    if event.kind == "expr" and value is not None and isinstance(value, Call):
        # `os.environ.setdefault(...)` and `os.putenv(...)`.
        call = value
        return (dotted(call.func) or "").startswith("os.") and all(
            constant(item) is not MISSING for item in call.args
        )
    return (
        event.kind == "assign"
        and constant(value) is not MISSING
        and len(event.targets) == 1
        and isinstance(event.targets[0], Subscript)
        and dotted(event.targets[0].base) == "os.environ"
    )


_STARTS_PROCESSES = re.compile(
    r"(?:^|\.)(?:Pool|Process|ProcessPoolExecutor|Popen|check_call|check_output|system|spawn)$|^subprocess\.run$"
)


def _has_workers(module: Module) -> bool:
    """Tell whether a module imports Ray, whose workers are processes of their own."""
    return any(
        source.split(".")[0] == "ray" for scope in module.summary.scopes for source in scope.imports.values()
    )


def _for_children(scope: Scope, event: Event) -> bool:
    """Tell whether a function sets a variable for processes that it starts."""
    return any(
        call.place.start > event.place.start and _STARTS_PROCESSES.search(dotted(call.func) or "") is not None
        for call in scope.calls
    )


def _read_at_import(program: Program) -> bool:
    """Tell whether a release of the project reads environment variables at import.

    TensorFlow reads them at its first message. Tried with the CPU wheels: 2.8.4 makes no message while it is
    imported, 2.9.3, 2.10.1, 2.11.1, 2.15.1 and 2.21 do.
    """
    return bool(api(program).requirement.of_two(range(9, LATER_MINORS)))


def _import_line(top: Scope, scope: Scope, event: Event) -> int | None:
    """Return the line of a TensorFlow import that runs before a statement, or None.

    An import of Keras before it counts, since it imports TensorFlow.
    """
    keras = None
    for item in top.events():
        if (
            keras is None
            and item.kind == "import"
            and item.block == 0
            and any(source.split(".")[0] in ("keras", "tf_keras") for _, source in item.imports)
        ):
            keras = item.line
        if (
            item.kind == "import"
            and item.block == 0
            and any(source.split(".")[0] == "tensorflow" for _, source in item.imports)
        ):
            if scope is not top and any(
                is_name(call.func, scope.name) and call.block == 0 and call.line < item.line
                for call in top.calls
            ):
                return None
            if scope is not top or item.line < event.line:
                # A function runs after its module's imports; the statement that undoes a value is no mistake.
                return item.line if keras is None else keras
            return None
    return None


def _imported_through(
    program: Program, module: Module, scope: Scope, event: Event, name: str
) -> tuple[int, str] | None:
    """Return the line of a project import that imports TensorFlow before a statement.

    With it come words that name the file; None where there is no such import.
    """
    top = module.summary.scopes[0]
    for item, other in _imported_modules(program, module):
        if scope is top and item.line > event.line:
            break
        if scope is not top and any(
            is_name(call.func, scope.name) and call.block == 0 and call.line < item.line for call in top.calls
        ):
            break
        if not _brings_tensorflow(program, other, 8):
            continue
        if any(_sets_variable(program, inner, name) for inner in _reached_by_import(program, other)):
            return None
        return item.line, f" by {os.path.basename(other.path)}"
    return None


@once
def _imported_modules(program: Program, module: Module) -> list[tuple[Event, Module]]:
    """Return the project modules that a module's import statements load.

    Each comes with its statement.
    """
    found: list[tuple[Event, Module]] = []
    for item in module.scope.body if module.scope is not None else ():
        for _, source in item.imports if item.kind == "import" else ():
            for name in (source, source.rpartition(".")[0]):
                value = program.find(name, module) if name.strip(".") else None
                if isinstance(value, ModuleValue) and value.module is not module:
                    found.append((item, value.module))
                    break
    return found


@once
def _brings_tensorflow(program: Program, module: Module, depth: int) -> bool:
    """Tell whether importing a project module imports TensorFlow or Keras."""
    return any(
        source.split(".")[0] in ("tensorflow", "keras", "tf_keras")
        for item in (module.scope.body if module.scope is not None else ())
        for _, source in (item.imports if item.kind == "import" else ())
    ) or (
        depth > 0
        and any(
            _brings_tensorflow(program, other, depth - 1) for _, other in _imported_modules(program, module)
        )
    )


@once
def _reached_by_import(program: Program, module: Module) -> list[Module]:
    """Return the project modules loaded with a module, itself included."""
    found = {id(module): module}
    pending = [module]
    while pending:
        for _, other in _imported_modules(program, pending.pop()):
            if id(other) not in found:
                found[id(other)] = other
                pending.append(other)
    return list(found.values())


def _sets_variable(program: Program, module: Module, name: str) -> bool:
    return any(other == name for _, other, *_ in environment_of(program, module))


def thread_count(program: Program) -> Iterator[Hit]:
    """Find a `TF_GPU_THREAD_COUNT` above the number that the guides give.

    The number of CPUs is too many as well.
    """
    for module in program.modules:
        if "environ" not in module.summary.words:
            continue
        for scope, name, value, event, place in environment_of(program, module):
            if name != "TF_GPU_THREAD_COUNT" or value is None:
                continue
            shown = text(value)
            number = constant(value)
            many = isinstance(number, str) and number.isdigit() and int(number) > 4
            if many or "cpu_count" in shown:
                yield hit_in(scope, place, event.block, {"value": shown})
