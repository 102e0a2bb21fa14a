"""What the runtime asks of a config, whether it comes as a mapping of concepts or as a YAML file.

TensorFlow is not imported here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cfgfix.core.errors import CfgfixError, did_you_mean

if TYPE_CHECKING:
    from cfgfix.hardware.model import Hardware

CONCEPTS: dict[str, str] = {
    "batch_size": "elements of a batch",
    "cache": "true for a cache in memory, or the path of a cache file",
    "data_gpu": "index of the GPU that prepares data",
    "data_gpu_memory_mb": "memory limit of that GPU in MiB",
    "deterministic": "whether the input pipeline keeps the order of elements",
    "device_buffer": "batches that wait on the device",
    "device_prefetch": "whether batches are copied to the device ahead of the step",
    "drop_remainder": "whether a last, smaller batch is left out",
    "gpu_memory_fraction": "share of each visible GPU's memory, above 0 and up to 1",
    "gpu_memory_mb": "memory limit of each visible GPU in MiB",
    "graph_mode": "whether steps are compiled to graphs",
    "hop_length": "samples between two frames",
    "host_buffer": "batches that wait in host memory, where a dialect has several such keys",
    "inter_op_threads": "threads that run independent operations; 0: TensorFlow chooses",
    "intra_op_threads": "threads inside one operation; 0: TensorFlow chooses",
    "mel_pad_frames": "frames that each spectrogram is padded to",
    "memory_growth": "whether GPU memory is taken as needed",
    "mixed_precision": "true, false or the name of a policy",
    "model_gpu": "index of the GPU that runs the step",
    "model_gpu_memory_mb": "memory limit of that GPU in MiB",
    "n_mels": "mel bands",
    "op_determinism": "whether operations give the same bits in every run",
    "prefetch": "batches that wait in host memory; -1: TensorFlow chooses",
    "private_threads": "threads that belong to the input pipeline alone",
    "sample_rate": "samples per second",
    "seed": "seed of Python, NumPy and TensorFlow",
    "service_address": "address of a tf.data service dispatcher, such as grpc://host:5050",
    "service_mode": "how the service divides a dataset: a sharding policy, distributed_epoch or parallel_epochs",
    "shuffle_buffer": "elements that are shuffled among each other",
    "text_pad_length": "tokens that each text is padded to",
    "visible_devices": "what CUDA_VISIBLE_DEVICES should be",
    "workers": "parallel calls of map functions; -1: TensorFlow chooses",
    "xla": "whether XLA compiles the step",
    "xla_auto": "whether TensorFlow clusters operations for XLA by itself",
    "xla_step": "the same as xla, where a dialect tells it from xla_auto",
}
"""Every concept that the runtime reads, with its meaning. A mapping with another name is refused: it would do nothing."""

_WRITTEN_ONLY = frozenset({"seed"})
"""Concepts that count only where a file has them: a default seed of a program's own sampling asks for no seed of the run."""

AUTOTUNE = -1
"""The value of tf.data.AUTOTUNE, under which TensorFlow chooses."""


class Concepts:
    """The values that a config gives for concepts, each checked when it is read.

    Args:
        values: The values by concept name.
        origin: The file they come from, for messages; None for a mapping.
        places: Where the file has each of them, as a dotted key path.
    """

    __slots__ = ("_origin", "_places", "_values")

    def __init__(
        self, values: Mapping[str, Any], origin: str | None = None, places: Mapping[str, str] | None = None
    ) -> None:
        self._values = dict(values)
        self._origin = origin
        self._places = dict(places or {})

    def __str__(self) -> str:
        rows = [(name, repr(self._values[name]), self.place(name)) for name in self.names()]
        widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
        return "\n".join(f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]}" for row in rows)

    def names(self) -> tuple[str, ...]:
        """Return the names of the concepts that have a value, sorted."""
        return tuple(sorted(self._values))

    def place(self, name: str, argument: object = None) -> str:
        """Return the name by which the user knows a concept, for messages.

        It is `argument` where an argument is given, else the key in the file, else the concept's name.
        """
        return "argument" if argument is not None else self._places.get(name, name)

    def wrong(self, name: str, wanted: str) -> CfgfixError:
        """Return the error for a value that cannot be used."""
        value = self._values.get(name)
        shown = (
            repr(value)
            if isinstance(value, (str, int, float, bool, type(None)))
            else f"a {type(value).__name__}"
        )
        hint = "take the quotes away" if isinstance(value, str) and value.strip("-").isdigit() else None
        return CfgfixError(
            f"{self.place(name)} must be {wanted}, not {shown[:80]}", path=self._origin, hint=hint
        )

    def raw(self, name: str) -> Any:
        """Return the unchecked value of a concept, or None."""
        return self._values.get(name)

    def whole(
        self, name: str, argument: int | None = None, *, least: int = 0, auto: bool = False
    ) -> int | None:
        """Return a concept's value as a whole number of at least `least`, or None.

        With `auto`, -1 and the word `auto` mean that TensorFlow chooses.

        Raises:
            CfgfixError: It is something else.
        """
        if argument is not None:
            return Concepts({name: argument}).whole(name, least=least, auto=auto)
        value = self._values.get(name)
        if value is None:
            return None
        if auto and isinstance(value, str) and value.lower() in ("auto", "autotune"):
            return AUTOTUNE
        if auto and value == AUTOTUNE and not isinstance(value, bool):
            return AUTOTUNE
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.wrong(name, f"a whole number of at least {least}" + (", or -1" if auto else ""))
        return value

    def number(self, name: str, argument: float | None = None) -> float | None:
        """Return a concept's value as a finite number above zero, or None.

        Raises:
            CfgfixError: It is something else.
        """
        if argument is not None:
            return Concepts({name: argument}).number(name)
        value = self._values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
            raise self.wrong(name, "a number above 0")
        return float(value)

    def flag(self, name: str, argument: bool | None = None) -> bool | None:
        """Return a concept's value as true or false, or None.

        Raises:
            CfgfixError: It is something else; the text "false" counts as true in Python, so no text is taken.
        """
        value = self._values.get(name) if argument is None else argument
        if value is None:
            return None
        if not isinstance(value, bool):
            raise (self if argument is None else Concepts({name: value})).wrong(name, "true or false")
        return value

    def text(self, name: str, argument: str | None = None) -> str | None:
        """Return a concept's value as a text that is not empty, or None.

        Raises:
            CfgfixError: It is something else.
        """
        value = self._values.get(name) if argument is None else argument
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            raise (self if argument is None else Concepts({name: value})).wrong(name, "a text")
        return value


Config = Concepts | Mapping[str, Any] | str | os.PathLike[str] | None
"""What `read_concepts` returned, a mapping of concepts, the path of a YAML file, or nothing."""


def read_concepts(config: Config, *, dialect: str | None = None) -> Concepts:
    """Return the values that a config gives for concepts.

    As text they are a table of the values with their keys. A file is read as `cfgfix check` reads it: with the
    dialect, the key paths and the loader that the settings of its folder name (`[tool.cfgfix]`), else with the
    dialect that is detected, else by what its values reach in the code that opens it and by the common spellings.

    Args:
        config: A mapping of concept names, the path of a YAML file, what this function returned before, or None.
        dialect: The dialect of the file, instead of all that.

    Raises:
        CfgfixError: A name in the mapping is no concept of the runtime, the file cannot be read, it is no mapping, or its
            folder's settings are wrong.

    >>> read_concepts({"workers": 4}).whole("workers")
    4
    """
    if config is None:
        return Concepts({})
    if isinstance(config, Concepts):
        return config
    if isinstance(config, Mapping):
        for name in config:
            if name not in CONCEPTS:
                raise CfgfixError(
                    f"{name!r} is no setting that the runtime reads",
                    hint=did_you_mean(str(name), CONCEPTS, "see cfgfix.tf.concepts.CONCEPTS"),
                )
        return Concepts(config)
    if not isinstance(config, (str, os.PathLike)):
        raise CfgfixError(
            f"a config is a mapping of concepts or the path of a YAML file, not a {type(config).__name__}"
        )
    return _read_file(os.fspath(config), dialect)


def _read_file(path: str, name: str | None) -> Concepts:
    from cfgfix.config.dialects.view import View
    from cfgfix.config.document.compose import Kind
    from cfgfix.config.schema.validate import MISSING
    from cfgfix.core.findings import format_key_path
    from cfgfix.core.source_file import read_source
    from cfgfix.lint.runner import Request, check_basis
    from cfgfix.settings.reader import Settings, with_command_line

    def adjust(dialect: str | None) -> Callable[[Settings], Settings]:
        return lambda settings: with_command_line(settings, dialect=dialect, hardware="none")

    content = read_source(path).raw
    request = Request(stdin=content, stdin_name=path, adjust=adjust(name))
    seen = check_basis(request, by_code=False)
    if name is None and (seen is None or seen.target.dialect.confidence == "low"):
        # Of a dialect of common spellings, or none, the code that opens the file knows more.
        seen = check_basis(request) or seen
    if seen is None:
        forced = adjust(name or "generic")
        seen = check_basis(Request(stdin=content, stdin_name=path, adjust=forced, force_dialect=True))
    assert seen is not None  # with a dialect forced there is always an answer
    document, chosen = seen.document, seen.target.dialect
    if document.problem is not None:
        problem = document.problem
        raise CfgfixError(f"is not YAML: {problem.message}", path=path, line=getattr(problem, "line", None))
    roots = [index for index, root in enumerate(document.roots) if root.kind == Kind.MAPPING]
    if not roots:
        raise CfgfixError("holds no mapping, so it gives no settings", path=path)
    schema = seen.target.schema if chosen.defaults == "schema" else None
    view = View(
        document,
        roots[0],
        chosen,
        seen.target.loader,
        default=schema.default if schema is not None else None,
        missing=MISSING,
    )
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    for concept in CONCEPTS:
        bindings = view.bindings(concept)
        if bindings and bindings[0].value is not None:
            written = bindings[0].origin == "file"
            if not written and concept in _WRITTEN_ONLY:
                continue
            values[concept] = bindings[0].value
            if bindings[0].path is not None:
                places[concept] = format_key_path(bindings[0].path) + ("" if written else " (default)")
        elif not bindings and concept in chosen.facts and isinstance(chosen.facts[concept], (bool, int, str)):
            values[concept] = chosen.facts[concept]
    return Concepts(values, path, places)


def resolve_machine(hardware: Hardware | str | None) -> Hardware:
    """Return the machine that the runtime is configured for.

    It is this one, unless a profile such as `rtx4090x2,cpus=16` names another.

    Raises:
        CfgfixError: The profile is not known.
    """
    if hardware is None or hardware == "auto":
        from cfgfix.hardware.detect import detect

        return detect()
    if isinstance(hardware, str):
        from cfgfix.hardware.presets import parse_profile

        return parse_profile(hardware)
    return hardware
