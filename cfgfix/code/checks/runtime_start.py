"""Memory, threads and clusters, set up after the runtime has started."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgfix.code.checks.common import inside_function
from cfgfix.code.checks.guarded_calls import flag
from cfgfix.code.inference.environment import environment_of, sets
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.flow.symbolic import holds_symbolic, is_symbolic
from cfgfix.code.inference.hot_paths import innermost_loop, inside
from cfgfix.code.model.expressions import constant, text
from cfgfix.code.model.hit import at, hit_at
from cfgfix.code.model.module import Module, absolute
from cfgfix.code.model.nodes import Attribute, Expr
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Event, Scope
from cfgfix.code.model.values import Items, Made, Site, Value, alternatives
from cfgfix.rules.hit import Hit

SET_GROWTH = ("tensorflow.config.experimental.set_memory_growth",)
SET_LIMIT = (
    "tensorflow.config.set_logical_device_configuration",
    "tensorflow.config.experimental.set_virtual_device_configuration",
)
SET_VISIBLE = ("tensorflow.config.set_visible_devices", "tensorflow.config.experimental.set_visible_devices")
SET_THREADS = (
    "tensorflow.config.threading.set_intra_op_parallelism_threads",
    "tensorflow.config.threading.set_inter_op_parallelism_threads",
)
LIST_DEVICES = (
    "tensorflow.config.list_physical_devices",
    "tensorflow.config.experimental.list_physical_devices",
)
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


_OPERATIONS = re.compile(
    r"tensorflow\.(?:range|linspace|eye|fill|cast|reshape|stack|concat|one_hot|expand_dims|transpose|reduce_(?:mean|sum|max|min|prod|std)|sqrt|exp|abs"
    r"|square|zeros_like|ones_like|meshgrid|tile|matmul|image\.resize|io\.read_file|nn\.(?:softmax|relu|sigmoid)"
    r"|math\.[a-z]\w*|linalg\.[a-z]\w*|strings\.[a-z]\w*|signal\.(?!inverse_stft_window_fn)[a-z]\w*"
    r"|random\.(?:truncated_normal|shuffle|Generator\.from_\w+)|lookup\.KeyValueTensorInitializer)"
)
"""Operations on tensors, which start it as well (32 of them tried one by one in TensorFlow 2.21: `context.context()._initialized` behind each)."""


def starts_runtime(site: Site) -> bool:
    """Tell whether a call starts the runtime, judged by the function's name."""
    if site.name in _STARTS or (
        _OPERATIONS.fullmatch(site.name) is not None and not any(map(holds_symbolic, site.args))
    ):
        return True
    return (
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


def _builds_layers(site: Site) -> bool:
    """Tell whether a call builds Keras layers, whose variables start the runtime.

    Calls that only describe layers do not count.
    """
    if _BUILDS.fullmatch(site.name):
        return not site.name.startswith("keras.optimizers.schedules")
    if _WITH_WEIGHTS.fullmatch(site.name):
        return is_symbolic(site.result)
    if site.name == "keras.Sequential":
        return any(
            isinstance(value, Items) and len(value.items) > 1 and _is_shaped(value.items[0])
            for value in alternatives(site.argument(0, "layers"))
        ) or any(
            isinstance(value, Items) and value.items and _is_shaped(value.items[0], own=True)
            for value in alternatives(site.argument(0, "layers"))
        )
    return site.name == "keras.Sequential.add" and any(
        _is_shaped(value, own=True) for value in alternatives(site.argument(0, "layer"))
    )


def _is_shaped(value: Value, *, own: bool = False) -> bool:
    """Tell whether a first layer gives its shape, or is an input.

    The layers after it are then built at once.
    """
    if not isinstance(value, Made) or value.site is None:
        return False
    if not own and value.name in ("keras.Input", "keras.layers.Input", "keras.layers.InputLayer"):
        return True
    return value.name.startswith("keras.layers.") and any(
        value.site.call.keyword(name) is not None for name in _SHAPES
    )


def _starts_inside(program: Program, site: Site) -> bool:
    """Tell whether a project function that a call enters certainly starts the runtime."""
    return any(
        (starts_runtime(inner) or _builds_layers(inner))
        and not any(
            block.kind not in ("body", "with", "try")
            for step in (*path, inner)
            for block in step.scope.block_chain(step.call.block)
        )
        for target in site.targets
        if target.compiled is None and not target.scope.generator
        for inner, path in inside_function(program, target, 2)
    )


def _imported_start(program: Program, site: Site) -> tuple[Site, Event] | None:
    """Return a call that starts the runtime in a module imported before a place.

    With it comes the import. Return None where there is none.
    """
    module = site.scope.module
    for event in module.scope.events() if module.scope is not None else ():
        if event.kind != "import" or event.block != 0:
            continue
        if site.scope.kind == "module" and event.place.start > site.call.place.start:
            continue
        for other in _modules_of(program, module, event):
            found = _while_imported(program, other, {id(module)}, 4)
            if found is not None:
                return found, event
    return None


def _modules_of(program: Program, module: Module, event: Event) -> Iterator[Module]:
    for _, source in event.imports:
        name = absolute(source, module)
        other = program.module(name) or program.module(name.rpartition(".")[0])
        if other is not None and other is not module:
            yield other


def _while_imported(program: Program, module: Module, seen: set[int], depth: int) -> Site | None:
    """Return a call that starts the runtime while a module is imported, or None.

    Modules that it imports count as well.
    """
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
    sites: list[Site] = flow_of(program).within(scope)
    for site in sites:
        if all(block.kind in ("body", "with") for block in scope.block_chain(site.call.block)) and (
            starts_runtime(site) or _builds_layers(site) or _starts_inside(program, site)
        ):
            return site
    return None


def earlier_start(site: Site, program: Program) -> Site | None:
    """Return a call that has started the runtime before a place, or None.

    It stands in the same run of the place's scope, before that is entered, or in a module that is imported before.
    """
    found = start_in_scope(site, program)
    if found is not None:
        return found
    imported = _imported_start(program, site)
    if imported is not None:
        return imported[0]
    callers = [caller for caller in flow_of(program).callers(site.scope) if caller.scope is not site.scope]
    if not callers:
        return None
    # Only where every way in comes too late.
    late = [start_in_scope(caller, program) for caller in callers]
    return late[0] if all(item is not None for item in late) else None


def start_in_scope(site: Site, program: Program) -> Site | None:
    """Return a call of the same scope that starts the runtime before a place, or None."""
    scope = site.scope
    if innermost_loop(scope, site.call.block) is not None and scope.kind == "lambda":
        return None
    for other in _starts_of(program, scope):
        if (
            other.call.place.end < site.call.place.start
            and inside(scope, site.call.block, other.call.block)
            and not _leaves_between(scope, other, site)
        ):
            return other
    return None


@once
def _starts_of(program: Program, scope: Scope) -> list[Site]:
    """Return the calls of a scope that start the runtime."""
    return [
        site
        for site in flow_of(program).within(scope)
        if starts_runtime(site) or _builds_layers(site) or _starts_inside(program, site)
    ]


def _leaves_between(scope: Scope, first: Site, second: Site) -> bool:
    return any(
        event.kind in ("return", "raise")
        and event.block == first.call.block
        and first.call.line <= event.line < second.call.line
        for event in scope.events()
    )


def in_try(scope: Scope, block: int) -> bool:
    """Tell whether a place stands in a `try`."""
    return any(item.kind == "try" for item in scope.block_chain(block))


def memory_after_start(program: Program) -> Iterator[Hit]:
    """Find memory growth, limits or visibility set after the runtime has started."""
    yield from _late_calls(program, (*SET_GROWTH, *SET_LIMIT, *SET_VISIBLE))


def threads_after_start(program: Program) -> Iterator[Hit]:
    """Find thread counts set after the runtime has started."""
    yield from _late_calls(program, SET_THREADS)


SET_UP_CLUSTER = (
    "tensorflow.distribute.MultiWorkerMirroredStrategy",
    "tensorflow.distribute.experimental.MultiWorkerMirroredStrategy",
)


def cluster_after_start(program: Program) -> Iterator[Hit]:
    """Find strategies of several workers made after the runtime has started."""
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named(*SET_UP_CLUSTER):
        key = id(site.scope), site.call.number
        earlier = earlier_start(site, program) if key not in seen else None
        if earlier is None or earlier.name in SET_UP_CLUSTER or _begins_anew(site):
            continue
        seen.add(key)
        yield hit_at(
            site,
            flow=(),
            severity="warning" if in_try(site.scope, site.call.block) else None,
            values={
                "setter": site.name.rpartition(".")[2],
                "starter": callee_text(earlier),
                "where": _place_in_words(program, site, earlier),
            },
            related=(at(earlier, label="the runtime starts here"),),
        )


def _set_before(program: Program, site: Site) -> bool:
    """Tell whether another call sets memory growth in time.

    To set the same value again is no change, and raises nothing. The other call counts in the same file, or
    in the file of each call that the function is entered by.
    TensorFlow 2.21, `tensorflow/python/eager/context.py:1994`: the same value returns before the runtime is
    asked for.
    """
    wanted = flag(site.argument(1, "enable"))
    if wanted is None:
        return False
    files = {
        id(other.scope.module)
        for other in flow_of(program).named(*SET_GROWTH)
        if other.call is not site.call
        and flag(other.argument(1, "enable")) is wanted
        and (other.scope.module is not site.scope.module or other.call.place < site.call.place)
        and not (other.scope is site.scope and never_together(site.scope, other.call.block, site.call.block))
        and earlier_start(other, program) is None
    }
    callers = flow_of(program).callers(site.scope)
    return id(site.scope.module) in files or (
        bool(callers) and all(id(caller.scope.module) in files for caller in callers)
    )


def _late_calls(program: Program, names: tuple[str, ...]) -> Iterator[Hit]:
    seen: set[tuple[int, int]] = set()
    for site in flow_of(program).named(*names):
        if (id(site.scope), site.call.number) in seen:
            continue
        earlier = earlier_start(site, program)
        if earlier is None or _begins_anew(site):
            continue
        seen.add((id(site.scope), site.call.number))
        if site.name in SET_GROWTH and _set_before(program, site):
            continue
        caught = in_try(site.scope, site.call.block)
        if caught and site.name in SET_GROWTH and growth_by_environment(program, site):
            continue
        yield hit_at(
            site,
            flow=(),
            severity="warning" if caught else None,
            values={
                "setter": site.name.rpartition(".")[2],
                "starter": callee_text(earlier),
                "where": _place_in_words(program, site, earlier),
                "then": "it can change nothing any more, and its error is caught"
                if caught
                else "this raises RuntimeError",
            },
            related=(at(earlier, label="the runtime starts here"),),
        )


def _place_in_words(program: Program, site: Site, earlier: Site) -> str:
    """Return in words where an earlier call stands."""
    line = f"line {earlier.call.line}"
    if earlier.scope.module is site.scope.module:
        return line
    imported = _imported_start(program, site)
    by = f" (imported in line {imported[1].line})" if imported is not None and imported[0] is earlier else ""
    return f"{line} of {earlier.scope.module.path}{by}"


def _begins_anew(site: Site) -> bool:
    """Tell whether a statement before a call resets the eager context.

    The runtime then starts once more after it.
    """
    return any(
        event.kind == "assign"
        and event.line < site.call.line
        and any(isinstance(target, Attribute) and target.attribute == "_context" for target in event.targets)
        for event in site.scope.events()
    )


def callee_text(site: Site) -> str:
    """Return the source text of the function that a call names."""
    return text(site.call.func)


def growth_by_environment(program: Program, site: Site) -> bool:
    """Tell whether `TF_FORCE_GPU_ALLOW_GROWTH` turns on memory growth before a place.

    What a call at the place does is then of no account. The variable counts where the same module sets it
    further up, or a module of the project that this one imports sets it while it is imported (TensorFlow
    guide, gpu.ipynb: the variable is the other way to turn memory growth on).
    """
    module = site.scope.module
    for _, name, value, event, _ in environment_of(program, module):
        if name == _FORCE and event.line < site.call.line and _says_true(value):
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


def never_together(scope: Scope, first: int, second: int) -> bool:
    """Tell whether at most one of two blocks runs.

    They are the sides of one `if`, or a `try` and its handler.
    """
    sides: dict[str, bool] = {}
    for number in scope.block_numbers(first):
        item = scope.blocks[number]
        if item.kind == "if" and item.test is not None:
            sides[text(item.test)] = item.branch
        if item.kind == "except" and not inside(scope, second, number):
            return True
    for number in scope.block_numbers(second):
        item = scope.blocks[number]
        if (
            item.kind == "if"
            and item.test is not None
            and sides.get(text(item.test), item.branch) != item.branch
        ):
            return True
        if item.kind == "except" and not inside(scope, first, number):
            return True
    return False
