"""Files decoded one after another in Python while the model waits."""

from __future__ import annotations

from collections.abc import Iterator

from cfgfix.code.checks.common import in_tests, inside_function, line_of_site
from cfgfix.code.checks.generators import for_each
from cfgfix.code.checks.models import model_calls, trains
from cfgfix.code.checks.order import named_for_evaluation
from cfgfix.code.checks.pipelines import downstream
from cfgfix.code.checks.supply import generator_of
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import inside
from cfgfix.code.model.expressions import constant, text
from cfgfix.code.model.hit import Step, at, hit_at, hit_in, place_in_code, steps_to
from cfgfix.code.model.module import Module
from cfgfix.code.model.nodes import Attribute, Literal, Name
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Instance, Site, alternatives
from cfgfix.rules.hit import Hit

_DECODES = (
    "cv2.imread",
    "cv2.imdecode",
    "PIL.Image.open",
    "imageio.imread",
    "imageio.v2.imread",
    "imageio.v3.imread",
    "skimage.io.imread",
    "keras.utils.load_img",
    "keras.preprocessing.image.load_img",
    "matplotlib.image.imread",
    "matplotlib.pyplot.imread",
    "scipy.misc.imread",
    "scipy.ndimage.imread",
    "scipy.io.wavfile.read",
    "soundfile.read",
    "tensorflow.io.decode_",
    "tensorflow.image.decode_",
    "tensorflow.audio.decode_",
)
PICTURES = (
    *(name for name in _DECODES if not name.startswith(("scipy.io", "soundfile", "tensorflow."))),
    "tensorflow.io.decode_jpeg",
    "tensorflow.io.decode_png",
    "tensorflow.io.decode_image",
    "tensorflow.image.decode_",
)
"""What decodes pictures."""
_NO_FILES = ("tensorflow.io.decode_csv", "tensorflow.io.decode_raw", "tensorflow.io.decode_json", "tensorflow.io.decode_proto",
             "tensorflow.io.decode_base64", "tensorflow.io.decode_compressed")  # fmt: skip
_SEQUENCES = frozenset({"keras.utils.Sequence", "keras.utils.PyDataset"})
_WORKERS = frozenset(
    {"Pool", "ThreadPool", "ThreadPoolExecutor", "ProcessPoolExecutor", "Thread", "Process", "Parallel", "GeneratorEnqueuer", "OrderedEnqueuer"}
)  # fmt: skip


def decoded_in_python(program: Program) -> Iterator[Hit]:
    """Find images or sounds that one Python thread decodes for each sample."""
    seen: set[tuple[int, int]] = set()
    for hit in (*_in_generators(program), *_in_sequences(program), *_in_step_loops(program)):
        at = place_in_code(hit)
        key = (id(at.scope), at.place.line)
        if key not in seen:
            seen.add(key)
            yield hit


def _is_decoded(site: Site) -> bool:
    return site.name.startswith(_DECODES) and not site.name.startswith(_NO_FILES)


def _decoding_hit(site: Site, what: str, then: str, made: Site, path: tuple[Site, ...] = ()) -> Hit:
    return hit_at(
        site,
        flow=(at(made, label=what), *steps_to(site.scope, path)),
        values={
            "call": text(site.call.func),
            "what": what,
            "then": then,
            "line_of": line_of_site(site, made),
        },
    )


def _has_workers(module: Module) -> bool:
    """Tell whether a file starts threads or processes, which may do the work."""
    return any(
        (call.method or (call.func.name if isinstance(call.func, Name) else "")) in _WORKERS
        for scope in module.summary.scopes
        for call in scope.calls
    )


def _in_generators(program: Program) -> Iterator[Hit]:
    made: list[tuple[Site, Scope, str]] = []
    for dataset in flow_of(program).datasets:
        site = dataset.site
        if dataset.op != "from_generator" or site is None or named_for_evaluation(site):
            continue
        later = list(downstream(dataset))
        if any(step.op in ("cache", "snapshot", "interleave") for step in later) or _under_interleave(
            program, site
        ):
            continue
        made += [(site, function.scope, "from_generator runs it") for function in dataset.functions]
    for method, name in (("fit", "x"), ("fit_generator", "generator")):
        for site in model_calls(program, method):
            given = site.call.argument(0, name)
            generator = generator_of(program, site, given) if given is not None else None
            if generator is not None and not _uses_several_workers(site):
                made.append((site, generator, f"{method} runs it"))
    for site, generator, what in made:
        if in_tests(site.scope) or written_for_one(program, site.scope) or _has_workers(generator.module):
            continue
        if not trains(program, site.scope):
            continue
        for call, path in inside_function(program, generator):
            if _is_decoded(call) and for_each((*path, call)):
                yield _decoding_hit(
                    call,
                    f"{what} in one thread",
                    "a map over the paths with num_parallel_calls decodes several at once",
                    site,
                    path,
                )
                break


def _under_interleave(program: Program, site: Site) -> bool:
    return any(
        function.scope is site.scope
        for dataset in flow_of(program).datasets
        if dataset.op in ("interleave", "flat_map")
        for function in dataset.functions
    )


def _uses_several_workers(site: Site) -> bool:
    """Tell whether a `fit` call may use several workers."""
    if site.call.opaque:
        return True
    for name, least in (("workers", 1), ("use_multiprocessing", False)):
        given = site.call.keyword(name)
        if given is not None and not (isinstance(given, Literal) and given.value in (least, 0)):
            return True
    return False


def _in_sequences(program: Program) -> Iterator[Hit]:
    for method, name in (("fit", "x"), ("fit_generator", "generator")):
        for site in model_calls(program, method):
            if in_tests(site.scope) or _uses_several_workers(site) or written_for_one(program, site.scope):
                continue
            for value in alternatives(site.argument(0, name)):
                if not isinstance(value, Instance) or _SEQUENCES.isdisjoint(
                    program.bases(value.scope).outside
                ):
                    continue
                getter = program.method(value.scope, "__getitem__")
                if getter is None or _asks_for_workers(program, value.scope) or _has_workers(getter.module):
                    continue
                for call, path in inside_function(program, getter):
                    if _is_decoded(call):
                        yield _decoding_hit(
                            call,
                            f"{method} asks {value.scope.name} for batch after batch with one worker",
                            "workers=... in super().__init__ (in fit before Keras 3) reads several batches at once",
                            site,
                            path,
                        )
                        break


def _asks_for_workers(program: Program, owner: Scope) -> bool:
    """Tell whether a Sequence class, or a call that makes it, sets workers."""
    for base in program.bases(owner).classes:
        for scope in base.module.summary.scopes:
            if scope.parent != base.number:
                continue
            if any(
                name in ("workers", "use_multiprocessing")
                for call in scope.calls
                for name, _ in call.keywords
            ):
                return True
            if any(
                isinstance(target, Attribute) and target.attribute == "workers"
                for event in scope.events()
                for target in event.targets
            ):
                return True
    init = program.method(owner, "__init__")
    makers = flow_of(program).callers(init) if init is not None else []
    if any(
        name == "workers" and constant(value) != 1 for maker in makers for name, value in maker.call.keywords
    ):
        return True
    handed_on = init is not None and any(call.opaque for call in init.calls if call.method == "__init__")
    # What `**kwargs` hands on is known where each maker writes all that it gives.
    return handed_on and (not makers or any(maker.call.opaque for maker in makers))


_TRAINS = frozenset({"train_on_batch", "fit"})


def _in_step_loops(program: Program) -> Iterator[Hit]:
    """Yield the decoding calls in loops that train in the same turn."""
    for site in flow_of(program).under(*_DECODES):
        if not _is_decoded(site) or written_for_one(program, site.scope):
            continue
        if site.name.startswith("tensorflow.") and not _reads_files(program, site.scope):
            # A figure that is drawn for a log is decoded so, too.
            continue
        for call, path in calls_leading_to(program, site):
            scope = call.scope
            loops = [
                number
                for number in scope.block_numbers(call.call.block)
                if scope.blocks[number].kind in ("for", "while")
            ]
            found = next((train for number in loops for train in _training_in(program, scope, number)), None)
            if found is None or _has_workers(scope.module):
                continue
            yield hit_in(
                scope,
                call.call.name_place,
                call.call.block,
                {
                    "call": text(site.call.func),
                    "what": "the loop decodes before each step",
                    "then": "a tf.data pipeline decodes the next batch while this one is trained on",
                    "line_of": line_of_site(call, found),
                },
                related=(
                    Step(scope, found.call.name_place, found.call.block, "trains in the same round"),
                    *((at(site, label="decodes"),) if path else ()),
                ),
            )
            break


def _reads_files(program: Program, scope: Scope) -> bool:
    """Tell whether a function reads the data that it decodes from a file."""
    return any(
        site.name.startswith(("tensorflow.io.read_file", "tensorflow.io.gfile.", "builtins.open"))
        for site in flow_of(program).within(scope)
    )


def calls_leading_to(program: Program, site: Site, depth: int = 2) -> list[tuple[Site, tuple[Site, ...]]]:
    """Return a call and the calls that lead to its function, each with its call path."""
    found: list[tuple[Site, tuple[Site, ...]]] = [(site, ())]
    pending: list[tuple[Scope, tuple[Site, ...]]] = [(site.scope, ())]
    while pending and len(found) < 40:
        scope, path = pending.pop(0)
        if len(path) >= depth or scope.kind == "module" or scope.generator:
            continue
        for caller in flow_of(program).callers(scope):
            way = (caller, *path)
            found.append((caller, way))
            pending.append((caller.scope, way))
    return found


def _training_in(program: Program, scope: Scope, number: int) -> Iterator[Site]:
    """Yield the calls in a loop that train a model."""
    for site in flow_of(program).within(scope):
        if inside(scope, site.call.block, number) and (
            site.call.method == "apply_gradients"
            or (
                site.call.method in _TRAINS
                and (site.name.startswith("keras.") or site.call.method == "train_on_batch")
            )
            or any(_applies_gradients(program, target.scope) for target in site.targets)
        ):
            yield site


def _applies_gradients(program: Program, scope: Scope, depth: int = 2) -> bool:
    """Tell whether a loop-free function applies gradients, itself or through callees."""
    if any(block.kind in ("for", "while") for block in scope.blocks):
        return False
    if any(call.method == "apply_gradients" for call in scope.calls):
        return True
    return depth > 0 and any(
        _applies_gradients(program, target.scope, depth - 1)
        for site in flow_of(program).within(scope)
        for target in site.targets
    )
