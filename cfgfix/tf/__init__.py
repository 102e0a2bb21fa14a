"""A TensorFlow runtime in which every key has an effect (the extra `tf`).

Every function takes plain arguments, or a config: a mapping of concept names (see `cfgfix.tf.concepts.CONCEPTS`), or
the path of a YAML file, read through its dialect. A plain argument wins over the config. Nothing here prints or imports
the command line. `import cfgfix.tf` does not import TensorFlow: the modules do, when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cfgfix.tf.audio import LogMel, MelSettings, features_from_wav
    from cfgfix.tf.batching import batch_by_length, padded_batch_fixed
    from cfgfix.tf.callbacks import StepRecorder, keras_callback, watch_data
    from cfgfix.tf.concepts import read_concepts
    from cfgfix.tf.devices import DevicePipeline, LeakMonitor
    from cfgfix.tf.distribution import distribute
    from cfgfix.tf.features import precomputed
    from cfgfix.tf.pipeline import optimize, parallel_interleave_files, summarize
    from cfgfix.tf.runtime import Applied, Check, configure, configured, verify
    from cfgfix.tf.text_cache import TextCache
    from cfgfix.tf.variables import environment

_HOMES = {
    "Applied": "runtime",
    "Check": "runtime",
    "DevicePipeline": "devices",
    "LeakMonitor": "devices",
    "LogMel": "audio",
    "MelSettings": "audio",
    "StepRecorder": "callbacks",
    "TextCache": "text_cache",
    "batch_by_length": "batching",
    "configure": "runtime",
    "configured": "runtime",
    "distribute": "pipeline",
    "environment": "variables",
    "features_from_wav": "audio",
    "keras_callback": "callbacks",
    "optimize": "pipeline",
    "padded_batch_fixed": "batching",
    "parallel_interleave_files": "pipeline",
    "precomputed": "features",
    "read_concepts": "concepts",
    "summarize": "pipeline",
    "verify": "runtime",
    "watch_data": "callbacks",
}

__all__ = [
    "Applied",
    "Check",
    "DevicePipeline",
    "LeakMonitor",
    "LogMel",
    "MelSettings",
    "StepRecorder",
    "TextCache",
    "batch_by_length",
    "configure",
    "configured",
    "distribute",
    "environment",
    "features_from_wav",
    "keras_callback",
    "optimize",
    "padded_batch_fixed",
    "parallel_interleave_files",
    "precomputed",
    "read_concepts",
    "summarize",
    "verify",
    "watch_data",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
