"""Devices, their memory, and threads: what is set too late, twice, for one of several, or where nobody sees it fail."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from cfgfix.code.checks.common import bound_once, flag, in_tests, inside_function, method_of, value_named
from cfgfix.code.checks.moves import free_name
from cfgfix.code.fixes.layout import siblings
from cfgfix.code.inference.environment import environment_of, sets
from cfgfix.code.inference.flow import is_symbolic
from cfgfix.code.inference.guards import statement_of
from cfgfix.code.inference.hot_paths import innermost_loop, inside
from cfgfix.code.inference.releases import IMPORTS, api, written_for_one
from cfgfix.code.model import comments as remarks
from cfgfix.code.model.expressions import MISSING, constant, dotted, place_of, text, walk
from cfgfix.code.model.hit import Hit, Rewrite, at, hit_at
from cfgfix.code.model.program import Module, Program, absolute, is_keras_model
from cfgfix.code.model.summary import (
    ATTRIBUTE,
    BINARY,
    BOOLEAN,
    CALL,
    CHOICE,
    COMPREHENSION,
    NAME,
    SUBSCRIPT,
    Event,
    Expr,
    Place,
    Scope,
)
from cfgfix.code.model.values import ClassValue, Constant, Instance, Items, Made, Site, Value, alternatives
from cfgfix.code.tensorflow.requirements import LATER_MINORS

NEEDLES = (
    b"tf.config",
    b"config.experimental",
    b"set_memory_growth",
    b"set_visible_devices",
    b"environ",
    b"tf.device",
    b"device(",
    b"Strategy(",
    b"parallelism_threads",
    b"Process(",
    b"Lock(",
    b"with_options",
    b"prefetch_to_device",
    *IMPORTS,
)

_GROWTH = ("tensorflow.config.experimental.set_memory_growth",)
_LIMIT = (
    "tensorflow.config.set_logical_device_configuration",
    "tensorflow.config.experimental.set_virtual_device_configuration",
)
_VISIBLE = ("tensorflow.config.set_visible_devices", "tensorflow.config.experimental.set_visible_devices")
_THREADS = (
    "tensorflow.config.threading.set_intra_op_parallelism_threads",
    "tensorflow.config.threading.set_inter_op_parallelism_threads",
)
_LISTS = ("tensorflow.config.list_physical_devices", "tensorflow.config.experimental.list_physical_devices")
_STARTS = (
    "tensorflow.config.list_logical_devices",
    "tensorflow.config.experimental.list_logical_devices",
    "tensorflow.constant",
    "tensorflow.Variable",
    "tensorflow.zeros",
    "tensorflow.ones",
    "tensorflow.convert_to_tensor",
    "tensorflow.random.normal",
    "tensorflow.random.uniform",
    "tensorflow.config.experimental.get_memory_info",
    "tensorflow.data.Dataset.range",
    "tensorflow.data.Dataset.from_tensors",
    "tensorflow.data.Dataset.from_tensor_slices",
    "tensorflow.data.Dataset.from_generator",
    "tensorflow.data.Dataset.list_files",
    "tensorflow.data.TFRecordDataset",
    "tensorflow.data.TextLineDataset",
)
"""Calls that initialise the runtime (TensorFlow 2.21, `tensorflow/python/eager/context.py`, `ensure_initialized`; the setters after them
were tried on an H100, `benchmarks/evidence/on_gpu.py`). `tf.test.is_gpu_available` and `gpu_device_name` do not (2.8, 2.10 and 2.21), nor do
`tf.random.set_seed` and what only makes a Keras layer; building one does."""


def _starts(site: Site) -> bool:
    return site.name in _STARTS or (
        site.name.startswith("tensorflow.distribute.")
        and site.name.endswith("Strategy")
        and site.name.count(".") <= 3
        and site.name != "tensorflow.distribute.Strategy"
    )


_BUILDS = re.compile(
    r"keras\.(?:applications\.(?:\w+\.)?[A-Z]\w*|optimizers\.[A-Z]\w*|metrics\.[A-Z]\w*"
    r"|(?:models|saving)\.load_model|(?:Model|Sequential)\.build)"
)
"""Calls that make variables of Keras, which start the runtime."""
_WITH_WEIGHTS = re.compile(
    r"keras\.(?:layers\.(?:Dense|\w*Conv\w+|LSTM|GRU|SimpleRNN|Embedding|\w*Normalization|Bidirectional)|Sequential|Model|applications\.\w+)"
    r"\.__call__"
)
_SHAPES = ("input_shape", "input_dim", "batch_input_shape", "batch_shape")


def _builds(site: Site) -> bool:
    """Tell whether a call builds layers of Keras, whose variables start the runtime: what only describes them does not."""
    if _BUILDS.fullmatch(site.name):
        return not site.name.startswith("keras.optimizers.schedules")
    if _WITH_WEIGHTS.fullmatch(site.name):
        return is_symbolic(site.result)
    if site.name == "keras.Sequential":
        return any(
            isinstance(value, Items) and len(value.items) > 1 and _shaped(value.items[0])
            for value in alternatives(site.argument(0, "layers"))
        ) or any(
            isinstance(value, Items) and value.items and _shaped(value.items[0], own=True)
            for value in alternatives(site.argument(0, "layers"))
        )
    return site.name == "keras.Sequential.add" and any(
        _shaped(value, own=True) for value in alternatives(site.argument(0, "layer"))
    )


def _shaped(value: Value, *, own: bool = False) -> bool:
    """Tell whether a first layer says its shape, or is an input, so that those behind it are built at once."""
    if not isinstance(value, Made) or value.site is None:
        return False
    if not own and value.name in ("keras.Input", "keras.layers.Input", "keras.layers.InputLayer"):
        return True
    return value.name.startswith("keras.layers.") and any(
        value.site.call.keyword(name) is not None for name in _SHAPES
    )


def _starts_inside(program: Program, site: Site) -> bool:
    """Tell whether a function of the project that a call enters surely starts the runtime."""
    return any(
        (_starts(inner) or _builds(inner))
        and not any(
            block.kind not in ("body", "with", "try")
            for step in (*path, inner)
            for block in step.scope.block_chain(step.call.block)
        )
        for target in site.targets
        if target.compiled is None and not target.scope.generator
        for inner, path in inside_function(program, target, 2)
    )


def _imported(program: Program, site: Site) -> tuple[Site, Event] | None:
    """Return a call that starts the runtime while a module is imported before a place, with the import."""
    module = site.scope.module
    for event in module.scope.events() if module.scope is not None else ():
        if event.kind != "import" or event.block != 0:
            continue
        if site.scope.kind == "module" and event.place[:2] > site.call.place[:2]:
            continue
        for other in _modules_of(program, module, event):
            found = _while_imported(program, other, {id(module)}, 4)
            if found is not None:
                return found, event
    return None


def _modules_of(program: Program, module: Module, event: Event) -> Iterator[Module]:
    for _, source in event.extra:
        name = absolute(source, module)
        other = program.module(name) or program.module(name.rpartition(".")[0])
        if other is not None and other is not module:
            yield other


def _while_imported(program: Program, module: Module, seen: set[int], depth: int) -> Site | None:
    """Return a call that starts the runtime while a module is imported, itself or through what it imports."""
    if id(module) in seen or module.scope is None or depth < 0:
        return None
    seen.add(id(module))
    scope = module.scope
    for event in scope.events():
        if event.kind == "import" and event.block == 0:
            for other in _modules_of(program, module, event):
                found = _while_imported(program, other, seen, depth - 1)
                if found is not None:
                    return found
    sites: list[Site] = program.flow.within(scope)
    for site in sites:
        if all(block.kind in ("body", "with") for block in scope.block_chain(site.call.block)) and (
            _starts(site) or _builds(site) or _starts_inside(program, site)
        ):
            return site
    return None


def _earlier(site: Site, program: Program) -> Site | None:
    """Return a call that has initialised the runtime before a place: in the same run of its scope, before it is entered, or while a module is imported."""
    found = _before(site, program)
    if found is not None:
        return found
    imported = _imported(program, site)
    if imported is not None:
        return imported[0]
    callers = [caller for caller in program.flow.callers(site.scope) if caller.scope is not site.scope]
    if not callers:
        return None
    # Only where every way in comes too late.
    late = [_before(caller, program) for caller in callers]
    return late[0] if all(item is not None for item in late) else None


def _before(site: Site, program: Program) -> Site | None:
    scope = site.scope
    if innermost_loop(scope, site.call.block) is not None and scope.kind == "lambda":
        return None
    sites: list[Site] = program.flow.within(scope)
    for other in sites:
        if (
            other.call.place[2:] < site.call.place[:2]
            and (_starts(other) or _builds(other) or _starts_inside(program, other))
            and inside(scope, site.call.block, other.call.block)
            and not _leaves_between(scope, other, site)
        ):
            return other
    return None


def _leaves_between(scope: Scope, first: Site, second: Site) -> bool:
    return any(
        event.kind in ("return", "raise")
        and event.block == first.call.block
        and first.call.place[0] <= event.place[0] < second.call.place[0]
        for event in scope.events()
    )


def _caught(scope: Scope, block: int) -> bool:
    return any(item.kind == "try" for item in scope.block_chain(block))


def memory_after_start(program: Program) -> Iterator[Hit]:
    """Memory growth, limits or visibility set after the runtime has started."""
    yield from _late(program, (*_GROWTH, *_LIMIT, *_VISIBLE))


def threads_after_start(program: Program) -> Iterator[Hit]:
    """Thread counts set after the runtime has started."""
    yield from _late(program, _THREADS)


def _set_before(program: Program, site: Site) -> bool:
    """Tell whether another call gives memory growth in time: to say it again is no change, and raises nothing.

    It counts in the same file, or in the file of each call that the function is entered by.

    TensorFlow 2.21, `tensorflow/python/eager/context.py:1994`: the same value returns before the runtime is asked for.
    """
    wanted = flag(site.argument(1, "enable"))
    if wanted is None:
        return False
    files = {
        id(other.scope.module)
        for other in program.flow.named(*_GROWTH)
        if other.call is not site.call
        and flag(other.argument(1, "enable")) is wanted
        and (other.scope.module is not site.scope.module or other.call.place < site.call.place)
        and not (other.scope is site.scope and _exclusive(site.scope, other.call.block, site.call.block))
        and _earlier(other, program) is None
    }
    callers = program.flow.callers(site.scope)
    return id(site.scope.module) in files or (
        bool(callers) and all(id(caller.scope.module) in files for caller in callers)
    )


def _late(program: Program, names: tuple[str, ...]) -> Iterator[Hit]:
    seen: set[tuple[int, int]] = set()
    for site in program.flow.named(*names):
        if in_tests(site.scope) or (id(site.scope), site.call.number) in seen:
            continue
        earlier = _earlier(site, program)
        if earlier is None or _begins_anew(site):
            continue
        seen.add((id(site.scope), site.call.number))
        if site.name in _GROWTH and _set_before(program, site):
            continue
        caught = _caught(site.scope, site.call.block)
        if caught and site.name in _GROWTH and _growth_by_environment(program, site):
            continue
        yield hit_at(
            site,
            flow=(),
            severity="warning" if caught else None,
            values={
                "setter": site.name.rpartition(".")[2],
                "starter": _short(earlier),
                "where": _where(program, site, earlier),
                "then": "it can change nothing any more, and its error is caught"
                if caught
                else "this raises RuntimeError",
            },
            related=(at(earlier, label="the runtime starts here"),),
        )


def _where(program: Program, site: Site, earlier: Site) -> str:
    """Return in words where a call stands that comes before another one."""
    line = f"line {earlier.call.place[0]}"
    if earlier.scope.module is site.scope.module:
        return line
    imported = _imported(program, site)
    by = (
        f" (imported in line {imported[1].place[0]})"
        if imported is not None and imported[0] is earlier
        else ""
    )
    return f"{line} of {earlier.scope.module.path}{by}"


def _begins_anew(site: Site) -> bool:
    """Tell whether a statement before a call throws the eager context away, so that the runtime starts once more behind it."""
    return any(
        event.kind == "assign"
        and event.place[0] < site.call.place[0]
        and any(target[0] == ATTRIBUTE and target[2] == "_context" for target in event.targets)
        for event in site.scope.events()
    )


def _short(site: Site) -> str:
    return text(site.call.func, site.scope)


_ONCE = (*_GROWTH, *_LIMIT, *_VISIBLE, *_THREADS)
_SETTERS = (*_GROWTH, *_LIMIT, *_VISIBLE, *_THREADS, "tensorflow.config.set_soft_device_placement")
_TELLS = re.compile(
    r"log|print|warn|raise|error|exception|exit|fail|traceback|info|debug|critical|report|notify",
    re.IGNORECASE,
)


def _handlers(scope: Scope, block: int) -> Iterator[tuple[int, list[Event]]]:
    """Yield the handlers of the innermost `try` around a place, as block number and statements."""
    number = block
    while number >= 0 and scope.blocks[number].kind != "try":
        number = scope.blocks[number].parent
    if number < 0:
        return
    for event in scope.events():
        if event.kind == "try" and any(item == number for item, _ in event.bodies):
            for item, body in event.bodies:
                if scope.blocks[item].kind == "except":
                    yield item, body


def _hides(scope: Scope, block: int) -> int | None:
    """Return the line of a handler that takes any error and tells nobody, or None."""
    for number, body in _handlers(scope, block):
        test = scope.blocks[number].test
        names = (
            [] if test is None else ([dotted(item) for item in test[2]] if test[0] == "t" else [dotted(test)])
        )
        if test is not None and not any(
            name in ("Exception", "BaseException", "RuntimeError") for name in names
        ):
            continue
        if any(event.kind in ("raise", "assert") for event in body):
            continue
        told = False
        for call in scope.calls:
            if inside(scope, call.block, number) and _TELLS.search(text(call.func, scope)):
                told = True
        # `return False` or `ok = False` hands the failure on; only silence hides it.
        quiet = all(event.kind in ("pass", "continue") for event in body)
        if not told and quiet and not _explained(scope, body) and not _tried_only(scope, number):
            return scope.blocks[number].line
    return None


_AT_WILL = re.compile(
    r"(?i)work(?:s|ing)?[- ]?around|best[- ]effort|\bignor|\boptional|\bharmless|if (?:possible|available|supported)|\bmay fail|\bcan fail"
    r"|not (?:fatal|critical|supported)"
)


def _tried_only(scope: Scope, handler: int) -> bool:
    """Tell whether a comment above a `try` says that what it does may as well fail."""
    for event in scope.events():
        if event.kind == "try" and any(number == handler for number, _ in event.bodies):
            return any(_AT_WILL.search(line) for line in remarks.above(scope, event.place[0]))
    return False


def _explained(scope: Scope, body: list[Event]) -> bool:
    """Tell whether a comment stands in a handler: dropping the error is then a decision."""
    if not body:
        return False
    first, last = body[0].place[0], body[-1].place[2]
    return any(remarks.above(scope, first)) or any(remarks.behind(scope, first, last))


def _growth_by_environment(program: Program, site: Site) -> bool:
    """Tell whether `TF_FORCE_GPU_ALLOW_GROWTH` gives memory growth before a place, whatever a call there does.

    It counts where the same module sets it further up, or a module of the project that this one imports sets it while it
    is imported (TensorFlow guide, gpu.ipynb: the variable is the other way to turn memory growth on).
    """
    module = site.scope.module
    for _, name, value, event, _ in environment_of(program, module):
        if name == _FORCE and event.place[0] < site.call.place[0] and _says_true(value):
            return True
    for source in module.scope.imports.values():
        name = absolute(source, module)
        other = program.module(name) or program.module(name.rpartition(".")[0])
        if other is None or other is module or other.scope is None:
            continue
        if any(name == _FORCE and _says_true(value) for name, value, *_ in sets(other.scope)):
            return True
    return False


_FORCE = "TF_FORCE_GPU_ALLOW_GROWTH"


def _says_true(value: Expr | None) -> bool:
    found = constant(value) if value is not None else None
    return isinstance(found, str) and found.lower() == "true"


def hidden_device_error(program: Program) -> Iterator[Hit]:
    """Device set-up whose failure is caught and dropped."""
    seen: set[tuple[int, int]] = set()
    for site in program.flow.named(*_SETTERS):
        line = _hides(site.scope, site.call.block)
        if line is None or in_tests(site.scope) or (id(site.scope), line) in seen:
            continue
        if site.name in _ONCE and _earlier(site, program) is not None:
            # That it comes too late is said of the same line, and says more.
            continue
        if site.name in _GROWTH and _growth_by_environment(program, site):
            continue
        seen.add((id(site.scope), line))
        yield hit_at(
            site,
            flow=(),
            # Where a script begins nothing has started the devices yet, and so nothing makes it fail; nor does anything that is known
            # make memory growth fail; the number of threads changes no result; a machine without a GPU has no `gpus[0]`, and is to go on.
            severity="info"
            if site.name in _GROWTH
            or (site.scope.kind == "module" and _before(site, program) is None)
            or site.name in _THREADS
            or _one_of_none(site, line)
            else None,
            values={"setter": site.name.rpartition(".")[2], "handler": line},
        )


def _one_of_none(site: Site, line: int) -> bool:
    """Tell whether a handler in a line also takes the IndexError of a device that is asked for by number, `gpus[0]`."""
    given = site.call.argument(0, "device")
    if given is None or given[0] != SUBSCRIPT or type(constant(given[2])) is not int:
        return False
    name = dotted(given[1])
    if any(
        block.kind == "if"
        and block.branch
        and block.test is not None
        and name in map(dotted, walk(block.test, site.scope))
        for block in site.scope.block_chain(site.call.block)
    ):
        return False
    test = next(
        site.scope.blocks[number].test
        for number, _ in _handlers(site.scope, site.call.block)
        if site.scope.blocks[number].line == line
    )
    return test is None or dotted(test) in ("Exception", "BaseException")


def hidden_dataset_error(program: Program) -> Iterator[Hit]:
    """Set-up of a dataset whose failure is caught and dropped."""
    seen: set[tuple[int, int]] = set()
    for site in program.flow.under("tensorflow.data."):
        method = method_of(site)
        if (
            method
            not in (
                "with_options",
                "prefetch",
                "apply",
                "cache",
                "shuffle",
                "map",
                "batch",
                "interleave",
            )
            and site.name != "tensorflow.data.experimental.prefetch_to_device"
        ):
            continue
        line = _hides(site.scope, site.call.block)
        if line is None or in_tests(site.scope) or (id(site.scope), line) in seen:
            continue
        seen.add((id(site.scope), line))
        yield hit_at(site, flow=(), values={"what": method or "prefetch_to_device", "handler": line})


def growth_and_limit(program: Program) -> Iterator[Hit]:
    """Memory growth and a memory limit for the same device on the same way."""
    limits = list(program.flow.named(*_LIMIT))
    seen: set[tuple[int, int]] = set()
    for growth in program.flow.named(*_GROWTH):
        if flag(growth.argument(1, "enable")) is not True or (id(growth.scope), growth.call.number) in seen:
            continue
        for limit in limits:
            if limit.scope is not growth.scope or not growth.call.args or not limit.call.args:
                continue
            if text(growth.call.args[0], growth.scope) != text(
                limit.call.args[0], limit.scope
            ) and not _same_list(growth, limit):
                continue
            if _exclusive(growth.scope, growth.call.block, limit.call.block) or _limits_nothing(limit):
                continue
            if _growth_by_environment(program, growth):
                continue
            seen.add((id(growth.scope), growth.call.number))
            first = growth.call.place < limit.call.place
            yield hit_at(
                growth,
                flow=(),
                values={
                    "what": "is then ignored" if first else "raises ValueError",
                    "limit_line": limit.call.place[0],
                },
                # An error that is caught leaves the limit as it is, and the run goes on.
                severity=("info" if _only_sometimes(growth, limit) else None)
                if first
                else "warning"
                if _caught(growth.scope, growth.call.block)
                or _only_sometimes(growth, limit)
                or _only_sometimes(limit, growth)
                else "error",
                related=(at(limit, label="the memory limit"),),
                **_without_growth(growth, limit, first=first),
            )
            break


def _without_growth(growth: Site, limit: Site, *, first: bool) -> dict[str, Any]:
    """Return the fix that takes memory growth out where the same GPUs have a limit; with it the loop that sets nothing else."""
    scope = growth.scope
    argument, other = growth.call.args[0], limit.call.args[0]
    if _only_sometimes(growth, limit) or (argument[0] == NAME) is not (other[0] == NAME):
        return {"no_fix": "growth holds for runs or GPUs that have no limit"}
    event = statement_of(scope, growth.call.block, growth.call.place)
    if event is None or event.kind != "expr" or event.value != (CALL, growth.call.number):
        return {"no_fix": "it is no statement of its own"}
    if scope.blocks[event.block].kind == "try" and siblings(scope, event.place) == 1:
        return {"no_fix": "nothing else stands in its try"}
    loop = next(
        (
            item
            for item in scope.events()
            if item.kind == "for" and [body for _, body in item.bodies] == [[event]]
        ),
        event,
    )
    return {
        "rewrites": (Rewrite("drop-statement", scope, loop.place),),
        # Set first, growth is left out as it is; set second, it raises, and the two may be wanted the other way round.
        "safety": "safe" if first else "unsafe",
    }


def _only_sometimes(growth: Site, limit: Site) -> bool:
    """Tell whether a limit stands behind a condition that growth does not stand behind: it is for some runs only."""
    inner = {
        number
        for number in limit.scope.block_numbers(limit.call.block)
        if limit.scope.blocks[number].kind == "if"
    }
    return bool(inner - set(growth.scope.block_numbers(growth.call.block)))


def _same_list(first: Site, second: Site) -> bool:
    """Tell whether two calls are about the loop variables of loops over the same list, or its first item."""

    def source(site: Site) -> str | None:
        argument = site.call.args[0]
        if argument[0] == SUBSCRIPT:
            return dotted(argument[1])
        if argument[0] == NAME:
            for item in site.scope.events():
                if (
                    item.kind == "for"
                    and item.targets
                    and item.targets[0][0] == NAME
                    and item.targets[0][1] == argument[1]
                ):
                    return dotted(item.value) if item.value is not None else None
        return None

    one, other = source(first), source(second)
    return one is not None and one == other


def _limits_nothing(site: Site) -> bool:
    return not any(
        call.keyword("memory_limit") is not None and constant(call.keyword("memory_limit")) is not None
        for call in site.scope.calls
        if call.place >= (*site.call.place[:2], 0, 0) and call.place[0] <= site.call.place[2]
    )


def _exclusive(scope: Scope, first: int, second: int) -> bool:
    """Tell whether two blocks never run together: the sides of one `if`, or a `try` and its handler."""
    sides: dict[str, bool] = {}
    for number in scope.block_numbers(first):
        item = scope.blocks[number]
        if item.kind == "if" and item.test is not None:
            sides[text(item.test, scope)] = item.branch
        if item.kind == "except" and not inside(scope, second, number):
            return True
    for number in scope.block_numbers(second):
        item = scope.blocks[number]
        if (
            item.kind == "if"
            and item.test is not None
            and sides.get(text(item.test, scope), item.branch) != item.branch
        ):
            return True
        if item.kind == "except" and not inside(scope, first, number):
            return True
    return False


def growth_for_one(program: Program) -> Iterator[Hit]:
    """Memory growth for the first GPU only."""
    if any(program.flow.named(*_VISIBLE)) or _environment(program, "CUDA_VISIBLE_DEVICES"):
        return
    several = {
        id(site.scope.module)
        for site in program.flow.under("tensorflow.distribute.")
        if site.name.endswith(("MirroredStrategy", "CentralStorageStrategy"))
    }
    for site in program.flow.named(*_GROWTH):
        if not site.call.args or flag(site.argument(1, "enable")) is not True or in_tests(site.scope):
            continue
        device = site.call.args[0]
        if device[0] != SUBSCRIPT or constant(device[2]) != 0:
            continue
        if not _is_device_list(program, site.scope, device[1]):
            continue
        shown = text(device[1], site.scope)
        if _one_only(site, shown):
            continue
        yield hit_at(
            site,
            flow=(),
            values={"list": shown},
            severity="error" if id(site.scope.module) in several else "info",
            **_growth_for_all(site, device[1]),
        )


def _growth_for_all(site: Site, devices: Expr) -> dict[str, Any]:
    """Return the fix that sets memory growth for all GPUs of a list."""
    scope = site.scope
    event = statement_of(scope, site.call.block, site.call.place)
    name = free_name(scope, "gpu", "device", "physical_device")
    listed, call = dotted(devices), dotted(site.call.func)
    if (
        event is None
        or event.value != (CALL, site.call.number)
        or event.kind != "expr"
        or name is None
        or listed is None
        or call is None
    ):
        return {"no_fix": "the list of GPUs has no name of its own"}
    lines = f"for {name} in {listed}:\n    {call}({name}, True)"
    return {"rewrites": (Rewrite("lines", scope, event.place, lines),)}


def _one_only(site: Site, shown: str) -> bool:
    """Tell whether a guard says that there is one GPU."""
    return any(
        block.kind == "if" and block.test is not None and f"len({shown}) == 1" in text(block.test, site.scope)
        for block in site.scope.block_chain(site.call.block)
    )


def _is_device_list(program: Program, scope: Scope, expr: Expr) -> bool:
    if expr[0] == CALL:
        call = scope.calls[expr[1]]
        return any(site.call is call and site.name in _LISTS for site in program.flow.within(scope))
    return expr[0] == NAME and any(
        isinstance(item, Made) and item.name in _LISTS
        for item in alternatives(value_named(program, scope, expr[1]))
    )


def untested_first(program: Program) -> Iterator[Hit]:
    """A GPU that is taken by its number, where nothing asks whether there is one."""
    for module in program.modules:
        for scope in module.summary.scopes:
            if in_tests(scope):
                continue
            seen: set[str] = set()
            for event in scope.events():
                found = _first_gpu(program, scope, event)
                if found is None:
                    continue
                part, shown = found
                if shown in seen or _under_condition(program, scope, event.block):
                    continue
                if _asked_before(scope, event.place, part[1]):
                    continue
                seen.add(shown)
                yield Hit(
                    scope,
                    part[-1],
                    event.block,
                    {"list": text(part[1], scope), "number": constant(part[2])},
                )


def _first_gpu(program: Program, scope: Scope, event: Event) -> tuple[Expr, str] | None:
    """Return where a statement takes one of the list of GPUs by its number, and a key for the list; None under a test of its own."""
    if event.value is None or event.kind in ("if", "while", "assert"):
        return None
    parts = list(walk(event.value, scope))
    if any(part[0] in (CHOICE, BOOLEAN, COMPREHENSION) for part in parts):
        return None
    for part in parts:
        if (
            part[0] == SUBSCRIPT
            and type(constant(part[2])) is int
            and _lists_gpus(program, scope, event.block, part[1])
        ):
            name = dotted(part[1])
            return part, name if name is not None else f"line {event.place[0]}"
    return None


def _under_condition(program: Program, scope: Scope, block: int) -> bool:
    """Tell whether a place, or a call that enters its function, stands under anything but a `with`."""
    plain = ("body", "with")
    if any(item.kind not in plain for item in scope.block_chain(block)):
        return True
    return any(
        item.kind not in plain
        and not (item.kind == "if" and item.test is not None and "__name__" in text(item.test, caller.scope))
        for caller in program.flow.callers(scope)
        for item in caller.scope.block_chain(caller.call.block)
    )


def _lists_gpus(program: Program, scope: Scope, block: int, expr: Expr) -> bool:
    """Tell whether an expression is the list of the GPUs there are, as TensorFlow gives it."""
    if expr[0] == NAME:
        bound = bound_once(scope, expr[1], block)
        if bound is None:
            return False
        expr, scope, _ = bound
    elif expr[0] == ATTRIBUTE:
        stores = [(where, event) for where, event, target in scope.module.stores() if target[2] == expr[2]]
        if len(stores) != 1 or stores[0][1].value is None:
            return False
        scope, expr = stores[0][0], stores[0][1].value
    if expr[0] != CALL or not _is_device_list(program, scope, expr):
        return False
    return bool(constant(scope.calls[expr[1]].argument(0, "device_type")) == "GPU")


def _asked_before(scope: Scope, place: Place, expr: Expr) -> bool:
    """Tell whether a statement before a place asks how many devices there are: `assert gpus`, `if not gpus: sys.exit()`."""
    name = dotted(expr)
    return any(
        event.kind in ("if", "assert", "while", "try")
        and event.place[:2] < place[:2]
        and (
            event.kind == "try"
            or any(name is not None and dotted(part) == name for part in walk(event.value, where))
            or re.search("list_physical_devices|gpu_available", text(event.value, where)) is not None
        )
        for where in {scope, scope.module.summary.scopes[0]}
        for event in where.events()
        if event.value is not None or event.kind == "try"
    )


# The environment

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


def _environment(program: Program, name: str) -> bool:
    return any(
        found == name
        for module in program.modules
        if "environ" in module.summary.words
        for _, found, *_ in environment_of(program, module)
    )


def environment_late(program: Program) -> Iterator[Hit]:
    """An environment variable set after TensorFlow has read it."""
    for module in program.modules:
        if "environ" not in module.summary.words or module.scope is None or in_tests(module.scope):
            continue
        for scope, name, _, event, place in environment_of(program, module):
            if name in _EARLY:
                if written_for_one(program, scope):
                    # TensorFlow 1 reads them at its first message, not at its import (tried on 1.14 and 1.15).
                    continue
                line = _import_line(module.scope, scope, event)
                if line is not None and not any(
                    where is module.scope and other == name and earlier.place[0] < line
                    for where, other, _, earlier, _ in environment_of(program, module)
                ):
                    yield Hit(
                        scope,
                        place,
                        event.block,
                        {"variable": name, "why": f"TensorFlow read it at its import in line {line}"},
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
                        for site in program.flow.within(scope)
                        if (_starts(site) or (site.name in _LISTS and name == "CUDA_VISIBLE_DEVICES"))
                        and site.call.place[2] < event.place[0]
                        and inside(scope, event.block, site.call.block)
                    ),
                    None,
                )
                if (
                    first is not None
                    and not written_for_one(program, scope)
                    and not _there_are_none(first, event)
                ):
                    yield Hit(
                        scope,
                        place,
                        event.block,
                        {
                            "variable": name,
                            "why": f"the devices were set up by {_short(first)} in line {first.call.place[0]}",
                        },
                        related=(at(first, label="the devices are set up here"),),
                        severity="info" if _for_children(scope, event) or _has_workers(module) else None,
                        **_above_devices(scope, event, first),
                    )


def _there_are_none(listed: Site, event: Event) -> bool:
    """Tell whether a statement is for machines without the devices that a call lists: the other branch of `if gpus`."""
    scope = listed.scope
    names = {
        dotted(target)
        for item in scope.events()
        if item.value == (CALL, listed.call.number)
        for target in item.targets
    }
    return any(
        block.kind == "if"
        and not block.branch
        and block.test is not None
        # The other branch of `gpus and visible != "-1"` is for who has none, or has hidden them.
        and any(
            dotted(part) in names or part == (CALL, listed.call.number)
            for part in (block.test[2] if block.test[:2] == (BOOLEAN, "and") else (block.test,))
        )
        for block in scope.block_chain(event.block)
    )


def _above_import(top: Scope, scope: Scope, event: Event, line: int, name: str) -> dict[str, Any]:
    """Return the fix that puts the statement that sets a variable above the import that reads it, with `import os` where need be."""
    goal = next((item for item in top.body if item.kind == "import" and item.place[0] == line), None)
    if scope is not top or event.block != 0 or goal is None or not _plain(event, scope):
        return {"no_fix": "it stands in a function or under a condition; the import is elsewhere"}
    package = next(
        (
            item
            for item in top.body
            if item.kind == "import" and {source for _, source in item.extra} == {"os"}
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


def _above_devices(scope: Scope, event: Event, first: Site) -> dict[str, Any]:
    """Return the fix that puts the statement that sets a variable above the first use of a device."""
    goal = statement_of(scope, first.call.block, first.call.place)
    if goal is None or goal.block != event.block or goal.bodies or not _plain(event, scope):
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


def _plain(event: Event, scope: Scope) -> bool:
    """Tell whether a statement sets `os.environ[...]` to a constant."""
    value = event.value
    if event.kind == "expr" and value is not None and value[0] == CALL:
        # `os.environ.setdefault(...)` and `os.putenv(...)`.
        call = scope.calls[value[1]]
        return (dotted(call.func) or "").startswith("os.") and all(
            constant(item) is not MISSING for item in call.args
        )
    return (
        event.kind == "assign"
        and constant(value) is not MISSING
        and len(event.targets) == 1
        and event.targets[0][0] == SUBSCRIPT
        and dotted(event.targets[0][1]) == "os.environ"
    )


_STARTS_PROCESSES = re.compile(
    r"(?:^|\.)(?:Pool|Process|ProcessPoolExecutor|Popen|check_call|check_output|system|spawn)$|^subprocess\.run$"
)


def _has_workers(module: Module) -> bool:
    """Tell whether a module hands work to Ray, whose workers are processes of their own: they begin with what is set by then."""
    return any(
        source.split(".")[0] == "ray" for scope in module.summary.scopes for source in scope.imports.values()
    )


def _for_children(scope: Scope, event: Event) -> bool:
    """Tell whether a function starts processes after it has set a variable: they inherit it and import TensorFlow anew."""
    return any(
        call.place[:2] > event.place[:2] and _STARTS_PROCESSES.search(dotted(call.func) or "") is not None
        for call in scope.calls
    )


def _read_at_import(program: Program) -> bool:
    """Tell whether a release asked for reads the variables at its import; it is the first message that reads them.

    Tried with the CPU wheels: 2.8.4 makes no message while it is imported, 2.9.3, 2.10.1, 2.11.1, 2.15.1 and 2.21 do.
    """
    return bool(api(program).requirement.of_two(range(9, LATER_MINORS)))


def _import_line(top: Scope, scope: Scope, event: Event) -> int | None:
    """Return the line of the import that brings TensorFlow and runs before a statement, or None: Keras imports it too."""
    keras = None
    for item in top.events():
        if (
            keras is None
            and item.kind == "import"
            and item.block == 0
            and any(source.split(".")[0] in ("keras", "tf_keras") for _, source in item.extra)
        ):
            keras = item.place[0]
        if (
            item.kind == "import"
            and item.block == 0
            and any(source.split(".")[0] == "tensorflow" for _, source in item.extra)
        ):
            if scope is not top and any(
                call.func[:2] == (NAME, scope.name) and call.block == 0 and call.place[0] < item.place[0]
                for call in top.calls
            ):
                return None
            if scope is not top or item.place[0] < event.place[0]:
                # A function runs after its module's imports; the statement that undoes a value is no mistake.
                return item.place[0] if keras is None else keras
            return None
    return None


def thread_count(program: Program) -> Iterator[Hit]:
    """`TF_GPU_THREAD_COUNT` by the number of CPUs or above what the guides name."""
    for module in program.modules:
        if "environ" not in module.summary.words:
            continue
        for scope, name, value, event, place in environment_of(program, module):
            if name != "TF_GPU_THREAD_COUNT" or value is None:
                continue
            shown = text(value, scope)
            number = constant(value)
            many = isinstance(number, str) and number.isdigit() and int(number) > 4
            if many or "cpu_count" in shown:
                yield Hit(scope, place, event.block, {"value": shown})


def whole_memory(program: Program) -> Iterator[Hit]:
    """Several processes with TensorFlow that each take the whole memory of every GPU."""
    if any(program.flow.named(*_GROWTH, *_LIMIT, *_VISIBLE)):
        return
    if any(
        _environment(program, name)
        for name in ("CUDA_VISIBLE_DEVICES", "TF_FORCE_GPU_ALLOW_GROWTH", "TF_GPU_ALLOCATOR")
    ):
        return
    for site in program.flow.named("multiprocessing.Process", "torch.multiprocessing.Process"):
        loop = innermost_loop(site.scope, site.call.block)
        if loop is None or in_tests(site.scope):
            continue
        for target in alternatives(site.argument(1, "target")):
            scope = getattr(target, "scope", None)
            if isinstance(scope, Scope) and any(
                inner.name.startswith(("tensorflow.", "keras."))
                and not inner.name.startswith("tensorflow.config")
                for inner in program.flow.within(scope)
            ):
                yield hit_at(site, flow=(), values={"function": scope.qualname})
                break


_GPU = re.compile(r"(?:^|/)(?:device:)?gpu:(\d+)$", re.IGNORECASE)


def _device_numbers(program: Program) -> Iterator[tuple[Site, int, str]]:
    for name in (
        "tensorflow.device",
        "tensorflow.data.experimental.prefetch_to_device",
        "tensorflow.data.experimental.copy_to_device",
    ):
        for site in program.flow.named(name):
            value = site.argument(0, "device_name" if name == "tensorflow.device" else "device")
            if isinstance(value, Constant) and isinstance(value.value, str):
                match = _GPU.search(value.value)
                if match is not None:
                    yield site, int(match[1]), value.value


def remapped(program: Program) -> Iterator[Hit]:
    """A GPU number that is not among the visible ones: they are counted anew from 0."""
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
    for site in program.flow.named(*_VISIBLE):
        devices = site.call.argument(0, "devices")
        if devices is not None and devices[0] == SUBSCRIPT and isinstance(constant(devices[2]), int):
            visible[id(site.scope.module)] = (1, f"set_visible_devices({text(devices, site.scope)})")
        elif devices is not None and devices[0] == "t" and devices[2]:
            visible[id(site.scope.module)] = (
                len(devices[2]),
                f"set_visible_devices with {len(devices[2])} devices",
            )
    for site, number, shown in numbered:
        found = visible.get(id(site.scope.module))
        if found is not None and number >= found[0]:
            yield hit_at(
                site,
                flow=(),
                values={"device": shown, "count": found[0], "by": found[1], "last": found[0] - 1},
                # What a handler is ready for may be wanted.
                severity="info" if _caught(site.scope, site.call.block) else None,
            )


def other_device(program: Program) -> Iterator[Hit]:
    """A GPU written into the code that is none of those the configs name."""
    named: dict[str, set[int]] = {}
    for config in program.facts.get("configs", ()):
        for path, value in config.leaves.items():
            if path[-1] in ("data_gpu", "model_gpu", "gpu_id", "gpu_index") and type(value) is int:
                named.setdefault(config.path, set()).add(value)
    if not named or any(program.flow.named(*_VISIBLE)):
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
    """More threads for one operation than there are CPUs."""
    for site in program.flow.named(_THREADS[0]):
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
    """Return an expression as text where it is a multiple of the number of CPUs."""
    if expr[0] == NAME and depth < 3:
        values = [
            event.value
            for event in scope.events()
            if event.kind == "assign" and any(t[0] == NAME and t[1] == expr[1] for t in event.targets)
        ]
        return (
            _times_cpus(program, scope, values[0], depth + 1)
            if len(values) == 1 and values[0] is not None
            else None
        )
    if expr[0] == BINARY and expr[1] == "*":
        for one, other in ((expr[2], expr[3]), (expr[3], expr[2])):
            factor = constant(one)
            if (
                isinstance(factor, (int, float))
                and not isinstance(factor, bool)
                and factor > 1
                and "cpu_count" in text(other, scope)
            ):
                return text(expr, scope)
    return None


def dataset_on_gpu(program: Program) -> Iterator[Hit]:
    """Dataset transformations under `tf.device` of a GPU: they run on the CPU all the same."""
    seen: set[tuple[int, int]] = set()
    for site in program.flow.under("tensorflow.data.Dataset."):
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
                    call.func[0] == ATTRIBUTE
                    and call.func[1][:2] == (NAME, "self")
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
    if test[0] != CALL:
        return None
    call = scope.calls[test[1]]
    for site in program.flow.within(scope):
        if site.call is call and site.name == "tensorflow.device":
            value = site.argument(0, "device_name")
            if isinstance(value, Constant) and isinstance(value.value, str):
                return value.value
    return None


def outside_strategy(program: Program) -> Iterator[Hit]:
    """A Keras model made outside the scope of the strategy it is trained with."""
    for site in program.flow.under("tensorflow.distribute."):
        if not (
            site.name.endswith("Strategy")
            and not site.name.endswith(("OneDeviceStrategy", "ParameterServerStrategy"))
            and site.name.count(".") <= 3
        ):
            continue
        scope = site.scope
        if in_tests(scope):
            continue
        inner = program.flow.within(scope)
        if any(
            item.name.endswith(".scope") and item.name.startswith("tensorflow.distribute.") for item in inner
        ):
            continue
        if any(
            block.kind == "with" and block.test is not None and "scope" in text(block.test, scope)
            for block in scope.blocks
        ):
            continue
        if any(item.call.keyword("distribution_strategy") is not None for item in inner):
            # A tuner of KerasTuner makes its models in the strategy's scope itself.
            continue
        models = [item for item in inner if _makes_model(program, item) and item.call.place > site.call.place]
        trained = [
            item
            for item in inner
            if item.name in ("keras.Model.fit", "keras.Sequential.fit") or item.call.method == "fit"
        ]
        if models and trained:
            yield hit_at(
                models[0],
                flow=(),
                values={"strategy": site.name.rpartition(".")[2], "line": site.call.place[0]},
                related=(at(site, label="the strategy"), at(trained[0], label="trained here")),
            )


def _makes_model(program: Program, site: Site) -> bool:
    if site.name in ("keras.Sequential", "keras.Model") or (
        site.name.startswith("keras.applications.") and site.name.count(".") == 2
    ):
        return True
    return any(
        isinstance(item, (ClassValue, Instance)) and is_keras_model(program, item.scope)
        for item in alternatives(site.result)
    ) and any(target.scope.name == "__init__" for target in site.targets)


_DATASET_ONLY = frozenset(
    [
        "map",
        "batch",
        "padded_batch",
        "shuffle",
        "prefetch",
        "repeat",
        "take",
        "skip",
        "filter",
        "cache",
        "apply",
        "interleave",
        "flat_map",
        "unbatch",
        "concatenate",
        "with_options",
        "enumerate",
        "shard",
        "zip",
    ]
)


def distributed_methods(program: Program) -> Iterator[Hit]:
    """A method of datasets on what a strategy distributed."""
    for site in program.flow.under("tensorflow.distribute."):
        owner, _, method = site.name.rpartition(".")
        if (
            method in _DATASET_ONLY
            and owner.startswith("tensorflow.distribute.")
            and owner.endswith(
                (
                    ".experimental_distribute_dataset",
                    ".distribute_datasets_from_function",
                    ".experimental_distribute_datasets_from_function",
                )
            )
        ):
            if not _only_distributed(site):
                continue
            yield hit_at(site, values={"method": method})


def _only_distributed(site: Site) -> bool:
    """Tell whether what a method is called on is a distributed dataset on every way that is known."""
    found = list(alternatives(site.receiver))
    return bool(found) and all(
        isinstance(item, Made)
        and item.name.startswith("tensorflow.distribute.")
        # What comes from another file may be one of several things there.
        and item.site is not None
        and item.site.scope.module is site.scope.module
        for item in found
    )


def check(program: Program) -> Iterable[Hit]:
    """The group's first rule."""
    return memory_after_start(program)
