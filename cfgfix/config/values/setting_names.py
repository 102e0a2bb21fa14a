"""What a setting takes, judged by its name alone: used where neither a schema nor a dialect says it.

The names of numbers are those of arguments with a number as default in Keras 3.15 (optimizers, learning
rate schedules, regularizers, layers, losses; read with `inspect.signature`), the arguments of
`tf.data.Dataset` and `Model.fit` that count something, and the short forms that training configs use for
them. A name is never enough to say that a value is wrong in itself; it only decides how sure a finding is
about text that is spelled like a number.
"""

from __future__ import annotations

import functools

INTEGER = "integer"
NUMBER = "number"
BOOLEAN = "boolean"
TEXT = "string"

CONCEPT_KINDS = {
    **dict.fromkeys(
        (
            "batch_size", "eval_batch_size", "workers", "prefetch", "pipeline_buffer", "shuffle_buffer",
            "shuffle_multiplier", "private_threads", "inter_op_threads", "intra_op_threads", "epochs",
            "steps_per_epoch", "train_steps", "warmup_steps", "gradient_accumulation", "text_pad_length",
            "text_max_tokens", "mel_pad_frames", "sample_rate", "hop_length", "n_mels", "data_gpu", "model_gpu",
            "data_gpu_memory_mb", "model_gpu_memory_mb", "num_gpus", "dataset_size", "model_parameters", "seed",
            "model_dims", "batch_size_train", "batch_size_data", "workers_train",
            "workers_data", "host_buffer", "device_buffer", "gpu_index", "gpu_memory_mb",
        ),
        INTEGER,
    ),
    **dict.fromkeys(
        (
            "learning_rate", "min_learning_rate", "optimizer_lr", "decay", "clipnorm", "clipvalue",
            "global_clipnorm", "max_audio_seconds", "gpu_memory_fraction",
        ),
        NUMBER,
    ),
    **dict.fromkeys(
        (
            "device_prefetch", "drop_remainder", "deterministic", "xla", "graph_mode", "eager_debug",
            "run_eagerly", "pad_fixed", "memory_growth", "native_loading", "persistent_workers", "pin_memory",
            "xla_step", "xla_auto",
        ),
        BOOLEAN,
    ),
}  # fmt: skip
"""JSON Schema type of each concept that has one; `cache`, `mixed_precision`, `strategy` and such take several."""

REQUIRED_NUMBERS = frozenset(
    {
        "batch_size",
        "batch_size_train",
        "batch_size_data",
        "learning_rate",
        "sample_rate",
        "hop_length",
        "n_mels",
    }
)
"""Concepts without which a run cannot start, so that an empty value is never a way to say "default"."""

TF_DATA_COUNTS = frozenset(
    {
        "batch_size",
        "batch_size_train",
        "batch_size_data",
        "eval_batch_size",
        "workers",
        "workers_train",
        "workers_data",
        "prefetch",
        "host_buffer",
        "shuffle_buffer",
        "pipeline_buffer",
    }
)
"""Concepts that are handed to `tf.data` as they are: a float or a text raises `TypeError` there."""

KERAS_RATES = frozenset({"learning_rate", "optimizer_lr"})
"""Concepts that are handed to a Keras optimizer as they are: only a float or a schedule is taken."""

_NUMBER_ENDS = (
    "lr", "learning_rate", "learning_rates", "lrs", "rate", "rates", "decay", "epsilon", "eps", "momentum", "rho",
    "beta", "beta_1", "beta_2", "beta1", "beta2", "alpha", "gamma", "sigma", "delta", "margin", "dropout", "l1", "l2",
    "clipnorm", "clipvalue", "clip_norm", "clip_value", "clip_threshold", "threshold", "thresh", "tolerance", "tol",
    "smoothing", "temperature", "stddev", "factor", "power", "loss_weight", "coef", "coefficient", "fraction", "ratio",
    "scale", "regularization", "lambda", "penalty", "noise_std", "fmin", "fmax", "f_min", "f_max",
)  # fmt: skip

_INTEGER_ENDS = (
    "batch_size", "batch_sizes", "buffer_size", "epochs", "num_epochs", "steps", "max_steps", "steps_per_epoch",
    "num_workers", "num_parallel_calls", "prefetch", "sample_rate", "sampling_rate", "hop_length", "hop_size",
    "win_length", "fft_size", "n_fft", "n_mels", "num_mels", "vocab_size", "num_samples", "num_examples", "timesteps",
    "n_timesteps", "seq_length", "max_length", "num_iterations", "training_iterations",
)  # fmt: skip

_TEXT_ENDS = (
    "id", "ids", "uid", "uuid", "name", "names", "tag", "tags", "label", "labels", "hash", "sha", "sha256", "md5",
    "commit", "revision", "version", "digest", "checksum", "path", "paths", "dir", "file", "files", "folder", "host",
    "hostname", "node", "device", "code", "codes", "key", "token", "run", "experiment", "comment", "description",
    "title", "serial", "model", "dataset", "prefix", "suffix", "branch", "user", "date", "color", "colour",
)  # fmt: skip

_VERSION_NAMES = (
    "version", "versions", "python", "cuda", "cudnn", "tensorflow", "tensorflow_gpu", "keras", "nccl", "numpy",
    "framework_version", "runtime_version", "py_version", "tf",
)  # fmt: skip

_PATH_ENDS = (
    "path",
    "paths",
    "dir",
    "dirs",
    "directory",
    "file",
    "files",
    "filename",
    "folder",
    "root",
    "checkpoint",
    "ckpt",
)

_MODE_ENDS = ("mode", "umask", "permission", "permissions", "chmod", "perms")

_LANGUAGE_ENDS = (
    "language", "languages", "lang", "langs", "locale", "locales", "country", "countries", "region", "lang_code",
    "language_code", "iso",
)  # fmt: skip


def plain_name(key: str) -> str:
    """Return a key in lower case with underscores.

    So `Batch-Size` and `batchSize` compare equal.
    """
    out: list[str] = []
    previous = ""
    for char in key.strip():
        if char in "- ./":
            out.append("_")
        elif char.isupper() and previous.islower():
            out.append("_" + char.lower())
        else:
            out.append(char.lower())
        previous = char
    return "".join(out)


@functools.lru_cache(maxsize=16)
def _after_underscore(ends: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("_" + end for end in ends)


def _ends_like(name: str, ends: tuple[str, ...]) -> bool:
    return name in ends or name.endswith(_after_underscore(ends))


@functools.lru_cache(maxsize=4096)
def kind_by_name(key: str) -> str | None:
    """Return the type that the name of a setting suggests, or None.

    It is `integer`, `number` or `string`.

    Counts are looked up first: `sample_rate` and `decay_steps` are whole numbers although other rates and
    decays are not.
    """
    name = plain_name(key)
    if _ends_like(name, _INTEGER_ENDS):
        return INTEGER
    if _ends_like(name, _NUMBER_ENDS):
        return NUMBER
    if _ends_like(name, _TEXT_ENDS):
        return TEXT
    return None


@functools.lru_cache(maxsize=4096)
def is_version(key: str) -> bool:
    """Tell whether a key name stands for a version of a program."""
    name = plain_name(key)
    return name in _VERSION_NAMES or name.endswith("_version")


@functools.lru_cache(maxsize=4096)
def is_path(key: str) -> bool:
    """Tell whether a key name stands for a path in a file system."""
    return _ends_like(plain_name(key), _PATH_ENDS)


@functools.lru_cache(maxsize=4096)
def is_file_mode(key: str) -> bool:
    """Tell whether a key name stands for file permissions, which are written in octal."""
    return _ends_like(plain_name(key), _MODE_ENDS)


@functools.lru_cache(maxsize=4096)
def is_language(key: str) -> bool:
    """Tell whether a key name stands for a language or country.

    There `no` is Norway or Norwegian.
    """
    return _ends_like(plain_name(key), _LANGUAGE_ENDS)


@functools.lru_cache(maxsize=4096)
def is_learning_rate(key: str) -> bool:
    """Tell whether a key name literally stands for the learning rate of an optimizer."""
    return plain_name(key) == "learning_rate"


@functools.lru_cache(maxsize=4096)
def may_be_rate(key: str) -> bool:
    """Tell whether a key of this name may hold a learning rate.

    A cheap test before the dialect is asked.
    """
    name = key.lower()
    return "lr" in name or "rate" in name or name in ("alpha", "eta")
