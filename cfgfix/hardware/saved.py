"""A machine as a file, and as rows for a table: written on the training machine, read where there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cfgfix.core.errors import CfgfixError, nearest
from cfgfix.hardware.model import Certainty, Cpu, Gpu, Hardware, Memory, Storage, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORMAT_KEY = "cfgfix_hardware"
FORMAT_VERSION = 1

MAX_GPUS = 1024
"""More devices than one machine has; a larger number in a profile is a slip."""

Row = tuple[str, str, str, str, str]
"""Section, label, value as text, source, certainty."""


class DataError(Exception):
    """Saved data of the wrong form; `path` is the key path."""

    def __init__(self, path: tuple[str | int, ...], message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def kind_of(value: object) -> str:
    """Return a short description of a value for messages, such as `the number 3`.

    It never holds the content of a container.
    """
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"the flag {str(value).lower()}"
    if isinstance(value, (int, float)):
        return f"the number {str(value)[:40]}"
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    return (
        "a list"
        if isinstance(value, (list, tuple))
        else "a mapping"
        if isinstance(value, dict)
        else "another kind"
    )


def _whole_number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise ValueError(f"must be a whole number of 0 or more, not {kind_of(value)}")
    return value


def _number_of(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 2**53:
        raise ValueError(f"must be a number of 0 or more, not {kind_of(value)}")
    return float(value)


def _flag_of(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {kind_of(value)}")  # noqa: TRY004 - one error kind for all
    return value


def _string_of(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be a text, not {kind_of(value)}")  # noqa: TRY004 - one error kind for all
    return value


def _strings_of(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"must be a list of texts, not {kind_of(value)}")  # noqa: TRY004 - one error kind for all
    return tuple(_string_of(item) for item in value)


def read_capability(value: object) -> tuple[int, int]:
    """Return a compute capability given as `[8, 9]` or as the text `8.9`.

    Raises:
        ValueError: It is neither. A number is refused too: 12.1 and 12.10 are the same number.
    """
    if isinstance(value, str):
        major, dot, minor = value.partition(".")
        if (
            dot
            and major.isascii()
            and major.isdigit()
            and minor.isascii()
            and minor.isdigit()
            and len(value) < 8
        ):
            return int(major), int(minor)
    elif isinstance(value, (list, tuple)) and len(value) == 2:
        return _whole_number(value[0]), _whole_number(value[1])
    raise ValueError(f'must be written as a text such as "8.9", not {kind_of(value)}')


_GPU_VALUES: dict[str, Callable[[object], object]] = {
    "name": _string_of,
    "memory_mib": _whole_number,
    "total_mib": _whole_number,
    "nominal_gib": _number_of,
    "compute_capability": read_capability,
    "tensor_cores": _flag_of,
    "tensor_dtypes": _strings_of,
    "bandwidth_gbs": _number_of,
    "fp16_tflops": _number_of,
    "pcie": _string_of,
    "nvlink_gbs": _number_of,
    "free_mib": _whole_number,
}
_CPU_VALUES: dict[str, Callable[[object], object]] = {
    "logical": _whole_number,
    "usable": _number_of,
    "amx_bf16": _flag_of,
}
_MEMORY_VALUES: dict[str, Callable[[object], object]] = {
    "total_mib": _number_of,
    "available_mib": _number_of,
    "shm_mib": _number_of,
}
_STORAGE_VALUES: dict[str, Callable[[object], object]] = {"kind": _string_of, "read_mbs": _number_of}
_TOP_VALUES: dict[str, Callable[[object], object]] = {
    "gpu_count": _whole_number,
    "host_ram_mib": _number_of,
    "has_quota": _flag_of,
    "tf_reserve_mib": _whole_number,
}


def _lists_for_tuples(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _packed_value(value: Value[Any]) -> dict[str, object]:
    return {
        "value": _lists_for_tuples(value.value),
        "source": value.source,
        "certainty": value.certainty.value,
    }


def to_data(hardware: Hardware) -> dict[str, object]:
    """Return a machine as plain lists and mappings.

    `from_data` gives an equal machine back.
    """

    def values(owner: object, fields: Mapping[str, object]) -> dict[str, object]:
        return {field: _packed_value(getattr(owner, field)) for field in fields}

    gpus = [
        {
            "id": gpu.id,
            "vendor": gpu.vendor,
            "index": gpu.index,
            "uuid": gpu.uuid,
            "mig": gpu.mig,
            "unified_memory": gpu.unified_memory,
            **values(gpu, _GPU_VALUES),
        }
        for gpu in hardware.gpus
    ]
    return {
        FORMAT_KEY: FORMAT_VERSION,
        "label": hardware.label,
        "origin": hardware.origin,
        **values(hardware, _TOP_VALUES),
        "gpus": gpus,
        "cpu": {"limited_by": hardware.cpu.limited_by, **values(hardware.cpu, _CPU_VALUES)},
        "memory": {"limited_by": hardware.memory.limited_by, **values(hardware.memory, _MEMORY_VALUES)},
        "storage": {"path": hardware.storage.path, **values(hardware.storage, _STORAGE_VALUES)},
        "notes": list(hardware.notes),
    }


class _RecordReader:
    """Reads one mapping of saved data; every failure names the key path."""

    __slots__ = ("data", "path")

    def __init__(self, data: object, path: tuple[str | int, ...]) -> None:
        if not isinstance(data, dict):
            raise DataError(path, f"must be a mapping, not {kind_of(data)}")
        self.data: dict[object, object] = data
        self.path = path

    def allow(self, keys: set[str]) -> None:
        for key in self.data:
            if key not in keys:
                shown = key[:40] if isinstance(key, str) else kind_of(key)
                raise DataError((*self.path, shown), f"unknown key{suggestion(shown, keys)}")

    def get(self, key: str, convert: Callable[[object], Any]) -> Any:
        if key not in self.data:
            raise DataError(self.path, f"the key {key!r} is missing")
        try:
            return convert(self.data[key])
        except ValueError as error:
            raise DataError((*self.path, key), str(error)) from None

    def optional_text(self, key: str) -> str | None:
        return None if self.data.get(key) is None else str(self.get(key, _string_of))

    def value(self, key: str, convert: Callable[[object], object]) -> Value[Any]:
        inner = _RecordReader(self.get(key, lambda item: item), (*self.path, key))
        inner.allow({"value", "source", "certainty"})
        source = str(inner.get("source", _string_of))
        certainty = inner.get("certainty", Certainty)
        if certainty is Certainty.UNKNOWN:
            if inner.data.get("value") is not None:
                raise DataError((*inner.path, "value"), "an unknown value must be null")
            return Value(None, source, Certainty.UNKNOWN)
        return Value(inner.get("value", convert), source, certainty)

    def values(self, fields: Mapping[str, Callable[[object], object]]) -> dict[str, Value[Any]]:
        return {field: self.value(field, convert) for field, convert in fields.items()}


def suggestion(name: str, known: set[str] | list[str]) -> str:
    """Return ` (did you mean ...?)` with the known name nearest to a wrong name.

    Empty where no name is near.
    """
    near = nearest(name.lower(), sorted(known), cutoff=0.5)
    return f" (did you mean {near!r}?)" if near else ""


def is_saved_machine(data: object) -> bool:
    """Return whether data is a saved machine, rather than one written by hand."""
    return isinstance(data, dict) and FORMAT_KEY in data


def from_data(data: object) -> Hardware:
    """Return the machine from the plain data of `to_data`.

    Raises:
        DataError: A key is missing, unknown or of the wrong kind.
    """
    top = _RecordReader(data, ())
    version = top.get(FORMAT_KEY, _whole_number)
    if version != FORMAT_VERSION:
        raise DataError(
            (FORMAT_KEY,), f"format {version} is not known; this cfgfix reads format {FORMAT_VERSION}"
        )
    plain = {FORMAT_KEY, "label", "origin", "gpus", "cpu", "memory", "storage", "notes"}
    top.allow(plain | set(_TOP_VALUES))
    listed = top.get("gpus", lambda item: item)
    if not isinstance(listed, list):
        raise DataError(("gpus",), f"must be a list, not {kind_of(listed)}")
    if len(listed) > MAX_GPUS:
        raise DataError(("gpus",), f"{len(listed)} GPUs are more than the {MAX_GPUS} that are read")
    gpus = tuple(_read_gpu(_RecordReader(item, ("gpus", index))) for index, item in enumerate(listed))
    cpu = _RecordReader(top.get("cpu", lambda item: item), ("cpu",))
    cpu.allow({"limited_by", *_CPU_VALUES})
    memory = _RecordReader(top.get("memory", lambda item: item), ("memory",))
    memory.allow({"limited_by", *_MEMORY_VALUES})
    storage = _RecordReader(top.get("storage", lambda item: item), ("storage",))
    storage.allow({"path", *_STORAGE_VALUES})
    return Hardware(
        label=top.get("label", _string_of),
        origin=top.get("origin", _origin_of),
        gpus=gpus,
        cpu=Cpu(limited_by=cpu.get("limited_by", _string_of), **cpu.values(_CPU_VALUES)),
        memory=Memory(limited_by=memory.get("limited_by", _string_of), **memory.values(_MEMORY_VALUES)),
        storage=Storage(path=storage.optional_text("path"), **storage.values(_STORAGE_VALUES)),
        notes=top.get("notes", _strings_of),
        **top.values(_TOP_VALUES),
    )


def _origin_of(value: object) -> str:
    text = _string_of(value)
    if text not in {"live", "profile", "file"}:
        raise ValueError(f"must be live, profile or file, not {text[:40]!r}")
    return text


def _read_gpu(entry: _RecordReader) -> Gpu:
    entry.allow({"id", "vendor", "index", "uuid", "mig", "unified_memory", *_GPU_VALUES})
    return Gpu(
        id=entry.optional_text("id"),
        vendor=entry.get("vendor", _string_of),
        index=entry.get("index", _whole_number),
        uuid=entry.optional_text("uuid"),
        mig=entry.optional_text("mig"),
        unified_memory=entry.get("unified_memory", _flag_of),
        **entry.values(_GPU_VALUES),
    )


def to_json(hardware: Hardware) -> str:
    """Return a machine as JSON text; `from_json` gives an equal machine back."""
    import json

    return json.dumps(to_data(hardware), indent=2, ensure_ascii=False) + "\n"


def from_json(text: str) -> Hardware:
    """Return the machine from the JSON text of `to_json`.

    Raises:
        CfgfixError: The text is not JSON, or not a saved machine.
    """
    import json

    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CfgfixError(f"this is not JSON: {error}") from None
    try:
        return from_data(data)
    except DataError as error:
        raise CfgfixError(data_error_text(error)) from None


def to_yaml(hardware: Hardware) -> str:
    """Return a machine as YAML text, headed by a comment."""
    import yaml

    header = "# A machine as cfgfix saw it. Use it elsewhere with: cfgfix check --hardware FILE\n"

    class Dumper(yaml.SafeDumper):
        """PyYAML folds line breaks such as NEL in single quotes; in double quotes it escapes them."""

    def text_of(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        style = None if value.isprintable() else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text_of)
    text: str = yaml.dump(to_data(hardware), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=160)
    return header + text


def data_error_text(error: DataError) -> str:
    """Return the message of a data error, with its key path."""
    from cfgfix.core.findings import format_key_path

    return f"{format_key_path(error.path)}: {error.message}" if error.path else error.message


def _value_text(value: object, unit: str) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        joined = (".".join if all(isinstance(item, int) for item in value) else ", ".join)(map(str, value))
        return joined or "none"
    text = (
        f"{value:g}"
        if isinstance(value, float) and value < 100
        else f"{value:.0f}"
        if isinstance(value, float)
        else str(value)
    )
    return f"{text} {unit}" if unit else text


def describe(hardware: Hardware) -> list[Row]:
    """Return every fact of a machine as a row, the most asked first.

    Each row is (section, label, value, source, certainty).
    """
    rows: list[Row] = []

    def add(section: str, label: str, value: Value[Any], unit: str = "") -> None:
        rows.append((section, label, _value_text(value.value, unit), value.source, value.certainty.value))

    def add_text(section: str, label: str, text: str, source: str) -> None:
        rows.append((section, label, text, source, Certainty.EXACT.value))

    add("GPU", "count", hardware.gpu_count)
    for gpu in hardware.gpus:
        section = f"GPU {gpu.index}"
        add(section, "name", gpu.name)
        if gpu.id is not None:
            add_text(section, "id", gpu.id, "gpus table")
        if gpu.mig is not None:
            add_text(section, "MIG instance", gpu.mig, gpu.name.source)
        add(section, "memory for CUDA", gpu.memory_mib, "MiB")
        add(section, "total memory", gpu.total_mib, "MiB")
        add(section, "free now", gpu.free_mib, "MiB")
        add(section, "nominal size", gpu.nominal_gib, "GiB")
        add(section, "compute capability", gpu.compute_capability)
        add(section, "tensor cores", gpu.tensor_cores)
        add(section, "tensor types", gpu.tensor_dtypes)
        add(section, "memory bandwidth", gpu.bandwidth_gbs, "GB/s")
        add(section, "FP16 rate", gpu.fp16_tflops, "TFLOPS")
        add(section, "PCIe", gpu.pcie)
        add(section, "NVLink", gpu.nvlink_gbs, "GB/s")
    if hardware.tf_reserve_mib.value is not None:
        add("GPU", "reserve of TensorFlow", hardware.tf_reserve_mib, "MiB")
    add("CPU", "usable", hardware.cpu.usable)
    if hardware.cpu.limited_by:
        add_text("CPU", "limited by", hardware.cpu.limited_by, hardware.cpu.usable.source)
    add("CPU", "logical processors", hardware.cpu.logical)
    add("CPU", "cgroup CPU quota", hardware.has_quota)
    add("CPU", "AMX bfloat16", hardware.cpu.amx_bf16)
    add("Memory", "limit", hardware.memory.total_mib, "MiB")
    if hardware.memory.limited_by:
        add_text("Memory", "limited by", hardware.memory.limited_by, hardware.memory.total_mib.source)
    add("Memory", "available now", hardware.memory.available_mib, "MiB")
    add("Memory", "whole machine", hardware.host_ram_mib, "MiB")
    add("Memory", "shared memory", hardware.memory.shm_mib, "MiB")
    add("Storage", "kind", hardware.storage.kind)
    add("Storage", "read speed", hardware.storage.read_mbs, "MB/s")
    return rows
