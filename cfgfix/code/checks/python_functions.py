"""What Python functions in a pipeline do: read, compute, release the lock."""

from __future__ import annotations

from cfgfix.code.checks.common import inside_function, short, stops
from cfgfix.code.inference.flow.flow import flow_of
from cfgfix.code.inference.hot_paths import Reach
from cfgfix.code.model.expressions import children, constant, dotted, text, walk
from cfgfix.code.model.nodes import Attribute, Binary, Literal, Name, Subscript
from cfgfix.code.model.program import Program
from cfgfix.code.model.summary import Scope
from cfgfix.code.model.values import Site, functions_of

NATIVE = {
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
"""Functions that read files in Python, and what does so in TensorFlow."""


def is_debugged(site: Site) -> bool:
    """Tell whether the Python function of a call stops in a debugger."""
    return any(stops(function.scope) for function in functions_of(site.argument(0, "func")))


_FREE = {"cv2.imread": "OpenCV", "cv2.imdecode": "OpenCV", "PIL.Image.open": "Pillow"}
"""What reads pictures without Python's lock, and its library."""


def lets_others_run(program: Program, group: list[Site], reach: Reach) -> str | None:
    """Return the library that reads pictures in parallel, or None.

    It gives Python's lock up while it works, and nothing else in the functions takes time.

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
        inner.name in NATIVE
        or (
            inner.name.startswith(_NO_READER)
            and not inner.name.startswith("tensorflow.")
            and not inner.name.endswith((".dump", ".dumps", ".pack"))
        )
        for function in functions_of(site.argument(0, "func"))
        for inner, _ in inside_function(program, function)
    )


def no_counterpart(program: Program, group: list[Site]) -> str | None:
    """Return a Python call that no TensorFlow operation can replace, or None."""
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
            library = _augmentation_library(program, function.scope) if site is group[0] else None
            if library is not None:
                return library
    return None


_FRAMES = ("get_frame", "read_frame", "read_region", "getCvFrame")
"""Methods of readers of videos and slides."""


def _frame_of_video(scope: Scope) -> str | None:
    """Return a function's call that reads a frame of a video or slide, or None."""
    return next((text(call.func) for call in scope.calls if call.method in _FRAMES), None)


def _item_of_dataset(scope: Scope) -> str | None:
    """Return the item that a function reads from a Python dataset, or None.

    Example: `self.dataset[index]`.
    """
    for event in scope.events():
        for part in walk(event.value) if event.value is not None else ():
            if isinstance(part, Subscript) and (dotted(part.base) or "").rpartition(".")[2].lower() in (
                "dataset",
                "data_set",
            ):
                return text(part)
    return None


def _item_with_parts(scope: Scope) -> str | None:
    """Return the list item whose attributes a function reads, or None.

    Example: `frame = self.labels[index]`, and later `frame.path`.
    """
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


def _augmentation_library(program: Program, scope: Scope) -> str | None:
    """Return the augmentation library that a function calls, or None.

    Example of such a call: `transform(image=image)`.
    """
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


def is_light(program: Program, site: Site) -> bool:
    """Tell whether the Python function of a call takes almost no time.

    It has no loop, and a few calls such as a draw.
    """
    functions = functions_of(site.argument(0, "func"))
    for function in functions:
        calls = 0
        scopes = {id(function.scope): function.scope}
        for inner, _ in inside_function(program, function):
            scopes.update((id(target.scope), target.scope) for target in inner.targets)
        for scope in scopes.values():
            if any(
                item.kind in ("for", "while", "comprehension") for item in scope.blocks
            ) or _does_arithmetic(scope):
                return False
            ours = {id(inner.call) for inner in flow_of(program).within(scope) if inner.targets}
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


def _does_arithmetic(scope: Scope) -> bool:
    """Tell whether a function does arithmetic outside of an index."""
    pending = [event.value for event in scope.events() if event.value is not None]
    while pending:
        expr = pending.pop()
        if isinstance(expr, Binary):
            return True
        pending += (expr.base,) if isinstance(expr, Subscript) else children(expr)
    return False
