"""Where work runs, GPU or CPU, and with how many threads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.models import method_of
from cfgfix.code.checks.runtime_start import LIST_DEVICES, SET_THREADS, SET_VISIBLE, in_try
from cfgfix.code.inference.environment import environment_of
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import constant, dotted, is_name, place_of, text, walk
from cfgfix.code.model.hit import Rewrite, Step, hit_at, hit_in
from cfgfix.code.model.nodes import Attribute, Binary, Call, Collection, Expr, FString, Name, Subscript
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Constant, Site
from cfgfix.rules.hit import Hit

_GPU = re.compile(r"(?:^|/)(?:device:)?gpu:(\d+)$", re.IGNORECASE)


def _device_numbers(program: Program) -> Iterator[tuple[Site, int, str]]:
    for name in (
        "tensorflow.device",
        "tensorflow.data.experimental.prefetch_to_device",
        "tensorflow.data.experimental.copy_to_device",
    ):
        for site in flow_of(program).named(name):
            value = site.argument(0, "device_name" if name == "tensorflow.device" else "device")
            if isinstance(value, Constant) and isinstance(value.value, str):
                match = _GPU.search(value.value)
                if match is not None:
                    yield site, int(match[1]), value.value


def invisible_gpu_number(program: Program) -> Iterator[Hit]:
    """Find GPU numbers that exceed the number of visible GPUs.

    Visible GPUs are counted anew from 0.
    """
    numbered = list(_device_numbers(program))
    if not numbered:
        return
    visible: dict[int, tuple[int, str]] = {}
    for module in program.modules:
        for _, name, value, _, _ in environment_of(program, module):
            shown = constant(value)
            if (
                name == "CUDA_VISIBLE_DEVICES"
                and isinstance(shown, str)
                and re.fullmatch(r"\d+(,\d+)*", shown)
            ):
                visible[id(module)] = (shown.count(",") + 1, f"CUDA_VISIBLE_DEVICES={shown}")
    for site in flow_of(program).named(*SET_VISIBLE):
        devices = site.call.argument(0, "devices")
        if (
            devices is not None
            and isinstance(devices, Subscript)
            and isinstance(constant(devices.index), int)
        ):
            visible[id(site.scope.module)] = (1, f"set_visible_devices({text(devices)})")
        elif isinstance(devices, Collection) and devices.items:
            visible[id(site.scope.module)] = (
                len(devices.items),
                f"set_visible_devices with {len(devices.items)} devices",
            )
    for site, number, shown in numbered:
        found = visible.get(id(site.scope.module))
        if found is not None and number >= found[0]:
            yield hit_at(
                site,
                flow=(),
                values={"device": shown, "count": found[0], "by": found[1], "last": found[0] - 1},
                # What a handler is ready for may be wanted.
                severity="info" if in_try(site.scope, site.call.block) else None,
            )


def cards_indexed_after_hiding(program: Program) -> Iterator[Hit]:
    """Find GPUs that are indexed by their old number after the others were hidden."""
    seen: set[tuple[int, int]] = set()
    for listed in flow_of(program).named(*LIST_DEVICES):
        scope, key = listed.scope, (id(listed.scope), listed.call.number)
        statement = statement_of(scope, listed.call.place)
        if key in seen or statement is None or statement.kind != "assign" or len(statement.targets) != 1:
            continue
        seen.add(key)
        alone = [
            (event, number)
            for where, name, value, event, _ in environment_of(program, scope.module)
            if where is scope
            and name == "CUDA_VISIBLE_DEVICES"
            and event.place.end <= listed.call.place.start
            and event.block in set(scope.block_numbers(listed.call.block))
            for number in [_number_alone(value)]
            if number is not None
        ]
        kept = dotted(statement.targets[0])
        if not alone or kept is None:
            continue
        event, number = alone[-1]
        for other in scope.events():
            if other.place.start < statement.place.end or other.value is None:
                continue
            wrong = next(
                (
                    part
                    for part in walk(other.value)
                    if isinstance(part, Subscript)
                    and dotted(part.base) == kept
                    and text(part.index) == number
                ),
                None,
            )
            if wrong is None or in_try(scope, other.block):
                continue
            yield hit_in(
                scope,
                wrong.place,
                other.block,
                {"shown": text(wrong), "number": number, "line": event.place.line},
                related=(Step(scope, event.place, event.block, "makes this card alone visible"),),
            )
            break


def _number_alone(value: Expr | None) -> str | None:
    """Return the single GPU number written to an environment variable, as text.

    None for 0 and for anything but one number or name.
    """
    inner = value
    if isinstance(value, Call) and dotted(value.func) == "str" and len(value.args) == 1:
        inner = value.args[0]
    elif isinstance(value, FString) and len(value.parts) == 1 and len(value.pieces) == 1 and not value.tail:
        inner = value.parts[0]
    if isinstance(inner, (Name, Attribute)):
        return text(inner) if inner is not value else None
    shown = constant(inner)
    if isinstance(shown, str) and shown.isdigit() and shown != "0":
        return shown
    return str(shown) if type(shown) is int and shown > 0 else None


def other_device(program: Program) -> Iterator[Hit]:
    """Find GPU numbers in the code that differ from those in the configs."""
    named: dict[str, set[int]] = {}
    for config in program.configs:
        for path, value in config.leaves.items():
            if path[-1] in ("data_gpu", "model_gpu", "gpu_id", "gpu_index") and type(value) is int:
                named.setdefault(config.path, set()).add(value)
    if not named or any(flow_of(program).named(*SET_VISIBLE)):
        return
    for site, number, shown in _device_numbers(program):
        against = [path for path, values in named.items() if number not in values]
        if against and len(against) == len(named):
            values = sorted(next(iter(named.values())))
            yield hit_at(
                site,
                flow=(),
                values={
                    "device": shown,
                    "configured": ", ".join(str(item) for item in values),
                    "config": against[0],
                },
            )


def oversubscribed(program: Program) -> Iterator[Hit]:
    """Find thread counts per operation that exceed the number of CPUs."""
    for site in flow_of(program).named(SET_THREADS[0]):
        value = site.call.argument(0, "num_threads")
        if value is None:
            continue
        shown = _times_cpus(program, site.scope, value)
        if shown is not None:
            place = place_of(value, site.scope)
            yield hit_at(
                site,
                flow=(),
                values={"value": shown},
                rewrites=(Rewrite("replace", site.scope, place, "0"),) if place is not None else (),
            )


def _times_cpus(program: Program, scope: Scope, expr: Expr, depth: int = 0) -> str | None:
    """Return the text of an expression that is a multiple of the CPU count, or None."""
    if isinstance(expr, Name) and depth < 3:
        values = [
            event.value
            for event in scope.events()
            if event.kind == "assign"
            and any(isinstance(t, Name) and t.name == expr.name for t in event.targets)
        ]
        return (
            _times_cpus(program, scope, values[0], depth + 1)
            if len(values) == 1 and values[0] is not None
            else None
        )
    if isinstance(expr, Binary) and expr.operator == "*":
        for one, other in ((expr.left, expr.right), (expr.right, expr.left)):
            factor = constant(one)
            if (
                isinstance(factor, (int, float))
                and not isinstance(factor, bool)
                and factor > 1
                and "cpu_count" in text(other)
            ):
                return text(expr)
    return None


def dataset_on_gpu(program: Program) -> Iterator[Hit]:
    """Find dataset transformations under `tf.device` of a GPU.

    They run on the CPU all the same.
    """
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).under("tensorflow.data.Dataset."):
        method = method_of(site)
        if method not in ("map", "batch", "padded_batch", "shuffle", "interleave", "filter", "cache"):
            continue
        for number in site.scope.block_numbers(site.call.block):
            block = site.scope.blocks[number]
            if block.kind != "with" or block.test is None or (id(site.scope), number) in seen:
                continue
            device = _device_of(program, site.scope, block.test)
            if device is not None and "gpu" in device.lower():
                seen.add((id(site.scope), number))
                if any(
                    isinstance(call.func, Attribute)
                    and is_name(call.func.base, "self")
                    and inside(site.scope, call.block, number)
                    for call in site.scope.calls
                ):
                    # The device is for what the methods compute.
                    continue
                yield hit_at(
                    site,
                    # What is measured under a device is as a rule the layers, not the data.
                    severity="info" if "benchmark" in site.scope.module.path.lower() else None,
                    values={"device": device, "op": method},
                )


def _device_of(program: Program, scope: Scope, test: Expr) -> str | None:
    if not isinstance(test, Call):
        return None
    call = test
    for site in flow_of(program).within(scope):
        if site.call is call and site.name == "tensorflow.device":
            value = site.argument(0, "device_name")
            if isinstance(value, Constant) and isinstance(value.value, str):
                return value.value
    return None
