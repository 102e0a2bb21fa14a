"""Python code inside an input pipeline: `numpy_function`, `py_function`, generators."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from cfgfix.code.checks.bindings import names_in
from cfgfix.code.checks.common import (
    PIPELINE,
    in_tests,
    inside_function,
    is_library_demo,
    short,
    shows_pictures,
    stops,
    tensorflow_alias,
)
from cfgfix.code.checks.guarded_calls import is_given
from cfgfix.code.checks.models import fits_eagerly, trains
from cfgfix.code.checks.pipelines import downstream, loaded_in_batches, upstream
from cfgfix.code.inference.eras import written_for_one
from cfgfix.code.inference.flow.datasets import DATASET
from cfgfix.code.inference.hot_paths import ELEMENT, PY_FUNCTIONS, Reach, hot_paths, inside
from cfgfix.code.inference.references import api
from cfgfix.code.inference.releases import IMPORTS, keras_three
from cfgfix.code.model.expressions import children, constant, dotted, text, walk
from cfgfix.code.model.hit import Rewrite, at, hit_at, steps_to
from cfgfix.code.model.nodes import Attribute, Binary, Call, Collection, Literal, Name, Subscript, Yield
from cfgfix.code.model.program import Program, once
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Dataset, Site, alternatives, functions_of
from cfgfix.rules.hit import Hit

NEEDLES = (b"numpy_function", b"py_function", b"py_func", b"from_generator", *PIPELINE, *IMPORTS)
"""Who calls what makes a dataset decides, too."""

_NATIVE = {
    "numpy.load": "tf.io.decode_raw on tf.io.read_file, or TFRecord files",
    "librosa.load": "tf.audio.decode_wav on tf.io.read_file",
    "soundfile.read": "tf.audio.decode_wav on tf.io.read_file",
    "wave.open": "tf.audio.decode_wav on tf.io.read_file",
    "scipy.io.wavfile.read": "tf.audio.decode_wav on tf.io.read_file",
    "PIL.Image.open": "tf.io.decode_image on tf.io.read_file",
    "cv2.imread": "tf.io.decode_image on tf.io.read_file",
    "imageio.imread": "tf.io.decode_image on tf.io.read_file",
    "builtins.open": "tf.io.read_file",
}


def in_map(program: Program) -> Iterator[Hit]:
    """Find `numpy_function` or `py_function` run for every element of a dataset."""
    hot = hot_paths(program)
    groups: dict[object, list[Site]] = {}
    for name in sorted(PY_FUNCTIONS):
        for site in program.flow.named(name):
            reach = hot.reach_of(site, ELEMENT)
            if reach is None or in_tests(site.scope) or _debugged(site):
                continue
            # One pipeline is one finding, whatever number of functions its map calls.
            root = reach.root.site
            group = groups.setdefault(id(root.call) if root is not None else id(site.scope), [])
            if all(other.call is not site.call for other in group):
                group.append(site)
    for group in groups.values():
        group.sort(key=lambda item: (item.scope.module.path, item.call.place))
        for site in group[:1]:
            reach = hot.reach_of(site, ELEMENT)
            assert reach is not None
            native = ""
            for function in functions_of(site.argument(0, "func")):
                for inner, _ in inside_function(program, function):
                    if inner.name in _NATIVE:
                        native = f"{inner.name.replace('builtins.', '')}() has a counterpart: {_NATIVE[inner.name]}"
                        break
            once = _cached_behind(reach)
            notes = (native,) if native else ()
            batched = _batched_before(reach)
            reader = _no_counterpart(program, group)
            if batched is not None:
                notes = (*notes, f"behind {batched} it runs once a batch, not once an element")
            outer = _once_for_many(reach)
            if outer is not None:
                notes = (*notes, f"{outer} calls it once for each dataset that it reads from, such as a file")
            if reader is not None:
                notes = (f"TensorFlow has no operation for what {reader} does",)
            free = _lets_others_run(program, group, reach)
            if free is not None:
                notes = (
                    *notes,
                    f"{free} lets other threads run, and the map is parallel: it reads with several",
                )
            light = all(_light(program, item) for item in group)
            if light:
                notes = (
                    *notes,
                    "its Python only looks something up or draws a number: the call itself is the cost",
                )
            yield hit_at(
                site,
                entry=reach,
                # A cache behind it leaves the cost to the first epoch.
                severity="info"
                if once
                or batched is not None
                or outer is not None
                or reader is not None
                or light
                or free is not None
                or shows_pictures(site.scope)
                or _one_pass(program, reach)
                or written_for_one(program, site.scope)
                else None,
                values={"call": short(site), "via": reach.via},
                related=tuple(at(other, label="and here") for other in group[1:]),
                notes=(*notes, "a cache behind it keeps the result: only the first epoch waits for it")
                if once
                else notes,
            )


def _debugged(site: Site) -> bool:
    """Tell whether the Python function of a call stops in a debugger: it is there for that."""
    return any(stops(function.scope) for function in functions_of(site.argument(0, "func")))


_FREE = {"cv2.imread": "OpenCV", "cv2.imdecode": "OpenCV", "PIL.Image.open": "Pillow"}
"""What reads pictures without Python's lock, and its library."""


def _lets_others_run(program: Program, group: list[Site], reach: Reach) -> str | None:
    """Return the library that reads pictures in a parallel map where it gives Python's lock up while it works, or None.

    With two threads on two CPUs JPEG files of 640 by 480 were read and resized about twice as fast as with one, by OpenCV and by Pillow
    (`opencv.py` and `pillow.py` in `benchmarks/evidence`); Python that holds the lock gains nothing (`python_in_pipeline.py` beside them).
    """
    root = reach.root.site
    calls = root.call.keyword("num_parallel_calls") if root is not None else None
    if calls is None or (constant(calls) in (None, 1) and isinstance(calls, Literal)):
        return None
    library = None
    for site in group:
        functions = functions_of(site.argument(0, "func"))
        inner = [item for function in functions for item in inside_function(program, function)]
        library = next((_FREE[item.name] for item, _ in inner if item.name in _FREE), None)
        if library is None:
            return None
        if any(
            block.kind in ("for", "while", "comprehension")
            for function in functions
            for block in function.scope.blocks
        ):
            return None
    return library


def _once_for_many(reach: Reach) -> str | None:
    """Return the step that makes many elements of each that its function gets, where that is what reaches Python; or None."""
    root = reach.root.site
    method = root.call.method if root is not None else None
    return method if method in ("interleave", "flat_map") else None


_NO_READER = (
    "h5py.",
    "tables.",
    "zarr.",
    "netCDF4.",
    "xarray.",
    "nibabel.",
    "pydicom.",
    "SimpleITK.",
    "medpy.",
    "nrrd.",
    "tifffile.",
    "rasterio.",
    "osgeo.",
    "openslide.",
    "astropy.",
    "trimesh.",
    "open3d.",
    "laspy.",
    "librosa.",
    "soundfile.",
    "audioread.",
    "torchaudio.",
    "pydub.",
    "kaldiio.",
    "pyworld.",
    "parselmouth.",
    "cv2.VideoCapture",
    "decord.",
    "av.",
    "imageio.get_reader",
    "scipy.io.loadmat",
    "pandas.",
    "pyarrow.",
    "lmdb.",
    "pickle.",
    "gzip.",
    "zipfile.",
    "struct.",
    "mne.",
    "pyedflib.",
    "wfdb.",
    "tensorflow.train.Example",
    "tensorflow.train.SequenceExample",
    "transformers.",
    "tokenizers.",
    "sentencepiece.",
    "pycocotools.",
)
"""Beginnings of the names of what does a work that TensorFlow has no operation for: `tf.io` and `tf.audio` decode BMP, GIF, JPEG, PNG,
WAV, CSV, JSON and records, and make no records (TensorFlow 2.21, `tf.io`, `tf.audio`)."""


def reads_in_python(program: Program, site: Site) -> bool:
    """Tell whether the Python function of a call reads or decodes files.

    Only libraries that let other threads run count.
    """
    return any(
        inner.name in _NATIVE
        or (
            inner.name.startswith(_NO_READER)
            and not inner.name.startswith("tensorflow.")
            and not inner.name.endswith((".dump", ".dumps", ".pack"))
        )
        for function in functions_of(site.argument(0, "func"))
        for inner, _ in inside_function(program, function)
    )


def _no_counterpart(program: Program, group: list[Site]) -> str | None:
    """Return what the Python code calls that TensorFlow has no operation for; None where it calls nothing such."""
    for site in group:
        for function in functions_of(site.argument(0, "func")):
            for inner, _ in inside_function(program, function):
                if inner.name.startswith(_NO_READER):
                    return short(inner)
            found = (
                _frame_of_video(function.scope)
                or _item_of_dataset(function.scope)
                or _item_with_parts(function.scope)
            )
            if found is not None:
                return found
            library = _augments(program, function.scope) if site is group[0] else None
            if library is not None:
                return library
    return None


_FRAMES = ("get_frame", "read_frame", "read_region", "getCvFrame")
"""Methods of readers of videos and slides."""


def _frame_of_video(scope: Scope) -> str | None:
    """Return the method of a reader of videos or slides that a function calls; None where it calls none."""
    return next((text(call.func) for call in scope.calls if call.method in _FRAMES), None)


def _item_of_dataset(scope: Scope) -> str | None:
    """Return the item of a Python dataset that a function takes, `self.dataset[index]`: whatever that runs is Python."""
    for event in scope.events():
        for part in walk(event.value) if event.value is not None else ():
            if isinstance(part, Subscript) and (dotted(part.base) or "").rpartition(".")[2].lower() in (
                "dataset",
                "data_set",
            ):
                return text(part)
    return None


def _item_with_parts(scope: Scope) -> str | None:
    """Return the item of a list of objects that a function takes, `frame = self.labels[index]`, and whose parts it reads."""
    items: dict[str, str] = {}
    for event in scope.events():
        if event.value is None:
            continue
        for part in walk(event.value):
            if (
                isinstance(part, Attribute)
                and isinstance(part.base, Name)
                and part.base.name in items
                and part.attribute not in _OF_PLAIN_DATA
            ):
                return items[part.base.name]
        value = event.value
        if (
            event.kind == "assign"
            and len(event.targets) == 1
            and isinstance(event.targets[0], Name)
            and isinstance(value, Subscript)
            and isinstance(value.base, Attribute)
            and value.base.attribute not in _OF_PLAIN_DATA
        ):
            items[event.targets[0].name] = text(value)
    return None


_OF_PLAIN_DATA = frozenset(
    {*dir(str), *dir(bytes), *dir(list), *dir(dict)}
    | {"T", "all", "any", "argmax", "astype", "clip", "dtype", "flat", "flatten", "iloc", "item", "loc", "max", "mean", "min"}
    | {"ndim", "numpy", "ravel", "repeat", "reshape", "resize", "round", "shape", "size", "squeeze", "std", "sum", "swapaxes"}
    | {"take", "to_numpy", "tobytes", "tolist", "transpose", "values", "view"}
)  # fmt: skip
"""What texts, arrays, tables and containers have: an item with another attribute is an object that only Python knows."""


_AUGMENTERS = ("albumentations", "imgaug", "audiomentations", "volumentations")
"""Libraries that change pictures, sounds or volumes in Python, by transforms that are called with what they change by name."""


def _augments(program: Program, scope: Scope) -> str | None:
    """Return the library whose transforms a function calls, as in `transform(image=image)`; None where it calls none."""
    if not any(
        name in ("image", "samples", "images") and not call.args
        for call in scope.calls
        for name, _ in call.keywords
    ):
        return None
    return next(
        (
            name
            for module in program.modules
            if module.scope is not None
            for source in module.scope.imports.values()
            for name in _AUGMENTERS
            if source.partition(".")[0] == name
        ),
        None,
    )


_LIGHT = frozenset(
    {"len", "int", "float", "str", "bool", "range", "min", "max", "tuple", "list", "isinstance"}
    | {
        "numpy",
        "decode",
        "item",
        "get",
        "lower",
        "strip",
        "endswith",
        "startswith",
        "expand_dims",
        "asarray",
        "array",
        "join",
        "basename",
        "dirname",
        "splitext",
    }
    | {"int32", "int64", "float32"}
)
"""What costs next to nothing, by the last part of its name."""
_MOST_LIGHT = 8


def _light(program: Program, site: Site) -> bool:
    """Tell whether the Python function of a call has a few calls that cost next to nothing, such as a draw, and no loop."""
    functions = functions_of(site.argument(0, "func"))
    for function in functions:
        calls = 0
        scopes = {id(function.scope): function.scope}
        for inner, _ in inside_function(program, function):
            scopes.update((id(target.scope), target.scope) for target in inner.targets)
        for scope in scopes.values():
            if any(item.kind in ("for", "while", "comprehension") for item in scope.blocks) or _computes(
                scope
            ):
                return False
            ours = {id(inner.call) for inner in program.flow.within(scope) if inner.targets}
            for call in scope.calls:
                name = dotted(call.func) or call.method or ""
                calls += 1
                if calls > _MOST_LIGHT or (
                    id(call) not in ours
                    and name.rpartition(".")[2] not in _LIGHT
                    and not name.startswith(("np.random.", "numpy.random.", "random."))
                ):
                    return False
    return bool(functions)


def _computes(scope: Scope) -> bool:
    """Tell whether a function has arithmetic, other than that of an index: on arrays it may be much work."""
    pending = [event.value for event in scope.events() if event.value is not None]
    while pending:
        expr = pending.pop()
        if isinstance(expr, Binary):
            return True
        pending += (expr.base,) if isinstance(expr, Subscript) else children(expr)
    return False


_ONE_PASS = re.compile(r"predict|export|infer|serializ|tf_?record|evaluat", re.IGNORECASE)
"""Words of functions that go through a dataset once."""
_ONE_PASS_FILE = re.compile(
    r"^(?:(?:predict|export|infer|inference|evaluate|evaluation|convert|serialize)[\w-]*|(?:eval|test|demo)(?:[_-][\w-]*)?)\.py$",
    re.IGNORECASE,
)
"""Files that do nothing else."""


def _one_pass(program: Program, reach: Reach) -> bool:
    """Tell whether a dataset is for predicting, evaluating or writing, or to show or test a library: one pass, and no step waits for it."""
    root = reach.root.site
    if root is None:
        return False
    scope = root.scope
    if (
        _ONE_PASS.search(scope.name)
        or _ONE_PASS_FILE.match(os.path.basename(scope.module.path))
        or in_tests(scope)
        or is_library_demo(scope, root.call.block)
        or _called_for_one_pass(program, scope)
        or (_writes_records(scope) and not trains(program, scope))
    ):
        return True
    return any(
        inner.call.method in ("SerializeToString", "serialize_tensor", "serialize_sparse")
        for made in alternatives(root.result)
        if isinstance(made, Dataset)
        for step in downstream(made)
        for function in step.functions
        for inner, _ in inside_function(program, function)
    )


def _writes_records(scope: Scope) -> bool:
    """Tell whether a scope's file makes files of records."""
    return any(
        call.method in ("TFRecordWriter", "SerializeToString")
        for item in scope.module.summary.scopes
        for call in item.calls
    )


def _called_for_one_pass(program: Program, scope: Scope) -> bool:
    """Tell whether a function that makes a dataset is called by files alone that evaluate or predict, and train nothing."""
    files = {id(site.scope.module): site.scope for site in program.flow.callers(scope)}
    return bool(files) and all(
        _ONE_PASS_FILE.match(os.path.basename(caller.module.path)) and not trains(program, caller)
        for caller in files.values()
    )


def _batched_before(reach: Reach) -> str | None:
    """Return the step that makes batches before the map that reaches Python, or None."""
    root = reach.root.site
    if root is None:
        return None
    for made in alternatives(root.result):
        if isinstance(made, Dataset):
            for step in upstream(made):
                if step.op in ("unbatch", "flat_map", "interleave"):
                    return None
                if step.op in ("batch", "padded_batch", "ragged_batch", "bucket_by_sequence_length"):
                    return step.op
            if loaded_in_batches(made):
                return "the loader"
    return None


def _cached_behind(reach: Reach) -> bool:
    root = reach.root.site
    return root is not None and any(
        step.op == "cache"
        for made in alternatives(root.result)
        if isinstance(made, Dataset)
        for step in downstream(made)
    )


def without_shape(program: Program) -> Iterator[Hit]:
    """Find results of `numpy_function` whose shape is never set again.

    Neither the function nor a later step of the pipeline sets it.
    """
    hot = hot_paths(program)
    seen: set[tuple[int, str]] = set()
    for name in sorted(PY_FUNCTIONS):
        for site in program.flow.named(name):
            reach = hot.reach_of(site, ELEMENT)
            if reach is None or _shaped(program, site.scope, set()):
                continue
            if written_for_one(program, site.scope):
                continue
            root = reach.root.site
            if root is None or any(_shaped(program, step.scope, set()) for step in reach.path):
                continue
            if root.call.method in ("filter", "take_while"):
                # It decides on elements and is no part of them.
                continue
            result = root.result
            made = next((item for item in alternatives(result) if isinstance(item, Dataset)), None)
            if made is None:
                continue
            later = list(downstream(made))
            if any(_shaped(program, function.scope, set()) for step in later for function in step.functions):
                continue
            if any(
                inner.name in PY_FUNCTIONS
                for step in later
                for function in step.functions
                for inner, _ in inside_function(program, function)
            ):
                # What comes of it goes through Python once more, and that result is the one that is batched.
                continue
            batches = next(
                (step for step in later if step.op in ("batch", "padded_batch", "ragged_batch")), None
            )
            if batches is None or batches.site is None or (id(site.scope), "shape") in seen:
                continue
            if batches.op == "padded_batch" and is_given(batches.site, 1, "padded_shapes") is not False:
                # The shapes given there are the shapes from there on.
                continue
            seen.add((id(site.scope), "shape"))
            yield hit_at(
                site,
                # A batch alone goes through: eager code, steps that are traced with it and Keras 2 take what comes.
                severity=None
                if batches.op != "batch"
                or (keras_three(program) and _fitted(program, made) and not fits_eagerly(program))
                else "info",
                entry=reach,
                values={
                    "call": short(site),
                    "batch": batches.op,
                    "batch_line": batches.site.call.name_line,
                },
                related=(at(batches.site, label="batched without a known shape"),),
            )


def _fitted(program: Program, dataset: Dataset) -> bool:
    """Tell whether a Keras model is trained or evaluated on a dataset, or on what is made of it.

    A strategy's is read with the shapes it has, and `predict` takes what comes.
    """
    made = {id(dataset), *(id(step) for step in downstream(dataset))}
    return any(
        id(item) in made
        for site in program.flow.sites
        if site.call.method in ("fit", "evaluate")
        for value in (*site.args, *site.keywords.values())
        for item in alternatives(value)
    )


_SHAPES = (
    "ensure_shape",
    "reshape",
    "set_shape",
    "resize",
    "image.resize",
    "decode",
    "parse",
    "pad",
    "stack",
    "squeeze",
    "expand_dims",
)


def _shaped(program: Program, scope: Scope, seen: set[int]) -> bool:
    """Tell whether a function gives a tensor a shape, itself or through what it calls."""
    if id(scope) in seen:
        return False
    seen.add(id(scope))
    for call in scope.calls:
        func = call.func
        last = func.attribute if isinstance(func, Attribute) else func.name if isinstance(func, Name) else ""
        if any(word in str(last) for word in _SHAPES):
            return True
    return any(
        _shaped(program, target.scope, seen) for site in program.flow.within(scope) for target in site.targets
    )


def rows(program: Program) -> Iterator[Hit]:
    """Find `from_generator` over rows of an array in memory, batched afterwards."""
    for site in program.flow.named(f"{DATASET}.from_generator"):
        for dataset in alternatives(site.result):
            if not isinstance(dataset, Dataset):
                continue
            batch = next((step for step in downstream(dataset) if step.op in ("batch", "padded_batch")), None)
            if batch is None or batch.site is None:
                continue
            for function in functions_of(site.argument(0, "generator")):
                source = _sliced(program, function.scope)
                if source is not None:
                    yield hit_at(
                        site,
                        severity="info" if _on_disk(program) else None,
                        values={"source": source, "batch_line": batch.site.call.name_line},
                        related=(at(batch.site, label="rows are put together again here"),),
                    )


@once
def _on_disk(program: Program) -> bool:
    """Tell whether the program opens arrays that stay on the disk: a row of one is read when it is asked for."""
    return any(
        call.keyword("mmap_mode") is not None
        or program.static_name(call.func, scope) in ("numpy.memmap", "h5py.File", "zarr.open")
        for module in program.modules
        for scope in module.summary.scopes
        for call in scope.calls
    )


def _sliced(program: Program, scope: Scope) -> str | None:
    """Return the array that a generator yields row by row, `for i in range(len(x)): yield x[i]`; or None."""
    events = [event for event in scope.events() if event.kind not in ("pass", "import")]
    if program.flow.within(scope) and any(
        not site.name.startswith("builtins.") for site in program.flow.within(scope)
    ):
        return None
    if len(events) != 2 or events[0].kind != "for" or events[1].kind != "yield":
        return None
    loop, value = events[0], events[1].value
    if not isinstance(value, Yield):
        return None
    bound: set[str] = set()
    for target in loop.targets:
        bound |= names_in(target, scope)
    parts = value.value.items if isinstance(value.value, Collection) else (value.value,)
    for part in parts:
        if (
            isinstance(part, Subscript)
            and isinstance(part.base, Name)
            and scope.params
            and part.base.name == scope.params[0].name == "self"
        ):
            # An object's own `__getitem__` makes its elements.
            return None
        if (
            isinstance(part, Subscript)
            and isinstance(part.base, (Name, Attribute))
            and names_in(part.index, scope) <= bound
        ):
            return text(part.base)
        if (
            isinstance(part, Name)
            and part.name in bound
            and loop.value is not None
            and isinstance(loop.value, Call)
        ):
            call = loop.value
            if (
                isinstance(call.func, Name)
                and call.func.name == "zip"
                and all(isinstance(arg, (Name, Attribute)) for arg in call.args)
            ):
                return ", ".join(text(arg) for arg in call.args)
            return None
        return None
    return None


def output_types(program: Program) -> Iterator[Hit]:
    """Find `from_generator(output_types=...)`, which is deprecated.

    Without `output_shapes` the shapes are lost.
    """
    for site in program.flow.named(f"{DATASET}.from_generator"):
        call = site.call
        types = call.argument(1, "output_types")
        if types is None or call.keyword("output_signature") is not None:
            continue
        if written_for_one(program, site.scope):
            continue
        table = api(program)
        if table.requirement.text and not table.admitted:
            # `output_signature` came with TensorFlow 2.4.
            continue
        shapes = call.argument(2, "output_shapes")
        early = table.requirement.reaches_below(4)
        yield hit_at(
            site,
            values={"lost": "" if shapes is not None else ", and the shapes are lost"},
            rewrites=() if early else _signature(site),
            no_fix="a release that may be meant has no output_signature" if early else None,
        )


def _signature(site: Site) -> tuple[Rewrite, ...]:
    """Return the fix for one component with literal types and shapes given by keyword."""
    call = site.call
    types, shapes = call.keyword("output_types"), call.keyword("output_shapes")
    alias = tensorflow_alias(site.scope)
    if types is None or shapes is None or alias is None or not isinstance(types, (Attribute, Name)):
        return ()
    shape = constant(shapes)
    if not isinstance(shape, (tuple, list)) or not all(item is None or type(item) is int for item in shape):
        return ()
    shown = text(shapes)
    if isinstance(shapes, Collection) and shapes.kind == "tuple" and len(shapes.items) == 1:
        shown = f"({text(shapes.items[0])},)"
    signature = f"{alias}.TensorSpec(shape={shown}, dtype={text(types)})"
    return (Rewrite("signature", site.scope, call.place, signature, "output_types"),)


def tensors_in_generator(program: Program) -> Iterator[Hit]:
    """Find TensorFlow operations inside a generator's own code.

    They run eagerly for every element.
    """
    for dataset in program.flow.datasets:
        if dataset.op != "from_generator" or dataset.site is None or in_tests(dataset.site.scope):
            continue
        if written_for_one(program, dataset.site.scope):
            # Nothing runs eagerly there.
            continue
        for function in dataset.functions:
            for site, path in inside_function(program, function):
                if not site.name.startswith("tensorflow.") or site.name.startswith(_CHEAP):
                    continue
                if not for_each((*path, site)):
                    # Before the loop of the generator, or in what it makes once: not for every element.
                    continue
                yield hit_at(
                    site,
                    flow=(
                        at(dataset.site, label="from_generator runs the generator for every element"),
                        *steps_to(site.scope, path),
                    ),
                    values={
                        "call": short(site),
                        "generator": function.scope.qualname,
                        "line_of": dataset.site.call.name_line,
                    },
                )
                break


def for_each(way: tuple[Site, ...]) -> bool:
    """Tell whether the last call of a way is made for every element.

    It, or the call to it, stands in the loop that yields.
    """
    if any(site.scope.name == "__init__" for site in way):
        # What sets an object up runs once.
        return False
    for site in reversed(way):
        loops = {
            loop
            for event in site.scope.events()
            if event.kind == "yield"
            for loop in [_loop(site.scope, event.block)]
            if loop is not None
        }
        if loops:
            return any(inside(site.scope, site.call.block, loop) for loop in loops)
    return any(_loop(site.scope, site.call.block) is not None for site in way)


def _loop(scope: Scope, block: int) -> int | None:
    """Return the innermost loop around a block, a comprehension included."""
    while block >= 0:
        if scope.blocks[block].kind in ("for", "while", "comprehension"):
            return block
        block = scope.blocks[block].parent
    return None


_CHEAP = (
    "tensorflow.io.gfile.",
    "tensorflow.gfile.",
    "tensorflow.nest.",
    "tensorflow.__internal__.",
    "tensorflow.logging.",
    "tensorflow.get_logger",
    "tensorflow.TensorSpec",
    "tensorflow.TensorShape",
    "tensorflow.data.TFRecordDataset",
    "tensorflow.data.Dataset.as_numpy_iterator",
    "tensorflow.device",
    "tensorflow.train.Example",
    "tensorflow.train.SequenceExample",
    "tensorflow.train.Feature",
    "tensorflow.train.BytesList",
    "tensorflow.train.FloatList",
    "tensorflow.train.Int64List",
    "tensorflow.python_io.",
    "tensorflow.io.tf_record_iterator",
    "tensorflow.compat.as_",
    "tensorflow.errors.",
    "tensorflow.config.",
)


def check(program: Program) -> Iterable[Hit]:
    """Find the hits of the group's first rule."""
    return in_map(program)
