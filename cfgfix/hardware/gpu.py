"""The GPUs that this process can use, from NVIDIA's management library (NVML) and the table of known cards.

Every call is made and guarded on its own: drivers leave out calls on some cards (memory on GB10 and Jetson, MIG on
GeForce), and one missing answer must not lose the others. Without the Python binding the driver's /proc folder still
gives the names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from cfgfix.core.records import replace
from cfgfix.hardware import visible
from cfgfix.hardware.device_nodes import has_nvidia_device
from cfgfix.hardware.model import (
    MIB_PER_GIB,
    Certainty,
    Gpu,
    T,
    Value,
    estimated,
    exact,
    known_or_unknown,
    memory_class,
    unknown,
)
from cfgfix.hardware.system import Root, is_real, path_below, read_text, to_count
from cfgfix.hardware.table import Match, TableFacts, device_facts, find_by_product_name, match

_MIB = 1 << 20
_NVML = "NVML"

MAX_DEVICES = 1024
"""More than any machine has; a larger count is a broken library."""

_LIBRARY_NOT_FOUND = 12
_NOT_SUPPORTED = 3
_GPU_IS_LOST = 15

ERRORS: dict[int, str] = {
    1: "NVML was not initialised",
    2: "NVML refused an argument",
    3: "the driver does not support this on this card",
    4: "this user may not access the NVIDIA devices (check the rights of /dev/nvidia*)",
    6: "NVML did not find what was asked for",
    7: "a buffer of NVML was too small",
    8: "a GPU has no external power connected",
    9: "the NVIDIA kernel module is not loaded, or /dev/nvidia* is missing (container without the NVIDIA runtime?)",
    10: "NVML timed out",
    11: "the driver has a problem with an interrupt of the GPU",
    12: "no NVIDIA driver library on this system (no driver, or a container without the NVIDIA runtime)",
    13: "the driver's library is older than this call",
    14: "the information memory of the GPU is damaged",
    15: "the GPU has fallen off the bus: it needs a reset, or the machine a restart",
    16: "the GPU must be reset",
    17: "the operating system does not let this process use the GPU",
    18: "the driver was updated and the machine not restarted: kernel module and library differ; restart the machine",
    19: "the GPU is in use and cannot answer",
    20: "the driver ran out of memory",
    25: "NVML refused a version of its own structures",
    999: "the driver reports an unknown error",
}
"""What NVML's return codes mean to a user."""

TF_RESERVE_VARIABLE = "TF_DEVICE_MIN_SYS_MEMORY_IN_MB"


class GpuReading(NamedTuple):
    """The GPUs of this process, their number, and remarks for the user."""

    gpus: tuple[Gpu, ...]
    number: Value[int]
    notes: tuple[str, ...]


class _CudaDevice(NamedTuple):
    """One device before CUDA_VISIBLE_DEVICES is applied."""

    gpu: Gpu
    uuid: str | None
    card_uuid: str | None
    """That of the card; for a MIG instance the card it is a part of."""
    is_mig: bool


def error_text(code: int | None, detail: str) -> str:
    """Return the meaning of an NVML error, with its code."""
    if code is None:
        return detail
    return f"{ERRORS.get(code, detail)} (NVML error {code})"


def tf_reserve(environ: Mapping[str, str]) -> Value[int]:
    """Return the MiB that TensorFlow is told to leave free on each card.

    Unknown where the environment variable is not set or no number.
    """
    text = environ.get(TF_RESERVE_VARIABLE, "").strip()
    count = to_count(text)
    if not text:
        return unknown(f"{TF_RESERVE_VARIABLE} is not set")
    return (
        unknown(f"{TF_RESERVE_VARIABLE}={text[:40]} is no number")
        if count is None
        else exact(count, f"{TF_RESERVE_VARIABLE}={count}")
    )


class _NvmlAsker:
    """Calls NVML, each call guarded on its own; keeps the last failure."""

    __slots__ = ("code", "detail", "library")

    def __init__(self, library: Any) -> None:
        self.library = library
        self.code: int | None = None
        self.detail = ""

    def ask(self, name: str, *arguments: object, **options: object) -> Any:
        """Call an NVML function and return its answer, or None when it fails.

        Then `code` and `detail` tell why.
        """
        self.code, self.detail = None, ""
        call: Callable[..., Any] | None = getattr(self.library, name, None)
        if call is None:
            self.detail = f"this version of the binding has no {name}"
            return None
        try:
            return call(*arguments, **options)
        except self.library.NVMLError as error:
            value = getattr(error, "value", None)
            self.code = value if isinstance(value, int) else None
            # Not str(error): that calls the library again, which may fail in its turn.
            self.detail = f"the call failed with {type(error).__name__}"
        except (OSError, ValueError, TypeError, AttributeError, UnicodeDecodeError) as error:
            # A damaged library can make the binding itself fail; that too is one missing answer.
            self.detail = f"{name} failed: {type(error).__name__}: {error}"
        return None

    def why(self) -> str:
        """Return the meaning of the last failure."""
        return error_text(self.code, self.detail or "NVML gave no answer")


def read_gpus(root: Root, environ: Mapping[str, str], system_ram_mib: Value[float]) -> GpuReading:
    """Return the GPUs as CUDA would show them to this process.

    Args:
        root: Where the file system of the machine starts.
        environ: The environment variables of this process.
        system_ram_mib: The machine's memory, for GPUs that share it.
    """
    try:
        import pynvml
    except ImportError:
        return _without_binding(root, environ, system_ram_mib)
    asker = _NvmlAsker(pynvml)
    asker.ask("nvmlInit")
    if asker.code is not None or asker.detail:
        reason = asker.why()
        if asker.code == _LIBRARY_NOT_FOUND:
            return GpuReading((), exact(0, reason), (reason,))
        return GpuReading((), unknown(reason), (reason,))
    try:
        return _read_initialised(asker, environ, system_ram_mib)
    finally:
        asker.ask("nvmlShutdown")


def _read_initialised(
    asker: _NvmlAsker, environ: Mapping[str, str], system_ram_mib: Value[float]
) -> GpuReading:
    count = asker.ask("nvmlDeviceGetCount")
    if not isinstance(count, int) or not 0 <= count <= MAX_DEVICES:
        reason = f"the number of GPUs cannot be read: {asker.why()}"
        return GpuReading((), unknown(reason), (reason,))
    if count == 0:
        reason = "the NVIDIA driver is there, but no GPU"
        return GpuReading((), exact(0, f"{_NVML}: {reason}"), (reason,))
    notes: list[str] = []
    devices: list[_CudaDevice] = []
    for index in range(count):
        devices += _read_device(asker, index, system_ram_mib, notes)
    if not devices:
        reason = notes[0] if notes else "no GPU answers"
        return GpuReading((), unknown(reason), tuple(notes))
    return _visible_devices(devices, environ, notes, _NVML)


def _read_device(
    asker: _NvmlAsker, index: int, system_ram_mib: Value[float], notes: list[str]
) -> list[_CudaDevice]:
    """Return a card as a device, or its MIG instances where it is in MIG mode.

    Empty where the card is lost.
    """
    handle = asker.ask("nvmlDeviceGetHandleByIndex", index)
    if handle is None:
        notes.append(f"GPU {index} is left out: {asker.why()}")
        return []
    mode = asker.ask("nvmlDeviceGetMigMode", handle)
    if asker.code == _GPU_IS_LOST:
        notes.append(f"GPU {index} is left out: {asker.why()}")
        return []
    if isinstance(mode, (list, tuple)) and mode and mode[0] == 1:
        return _read_mig(asker, handle, index, system_ram_mib, notes)
    try:
        return [_read_card(asker, handle, index, system_ram_mib, parent=None)]
    except _LostError:
        notes.append(f"GPU {index} is left out: {ERRORS[_GPU_IS_LOST]}")
        return []


class _LostError(Exception):
    """A card was lost (it fell off the bus) between two calls."""


def _read_mig(
    asker: _NvmlAsker, parent: object, index: int, system_ram_mib: Value[float], notes: list[str]
) -> list[_CudaDevice]:
    """Return the instances of a card in MIG mode.

    The card itself is then no CUDA device.
    """
    most = asker.ask("nvmlDeviceGetMaxMigDeviceCount", parent)
    found: list[_CudaDevice] = []
    for position in range(min(most, MAX_DEVICES) if isinstance(most, int) else 0):
        handle = asker.ask("nvmlDeviceGetMigDeviceHandleByIndex", parent, position)
        if handle is None:
            continue  # an instance that does not exist
        try:
            found.append(_read_card(asker, handle, index, system_ram_mib, parent=parent))
        except _LostError:
            notes.append(f"a MIG instance of GPU {index} is left out: {ERRORS[_GPU_IS_LOST]}")
    if not found:
        why = asker.why() if asker.code not in {None, 6} else "no instance exists"
        notes.append(f"GPU {index} is in MIG mode, but CUDA can use no instance of it: {why}")
    return found


def _read_card(
    asker: _NvmlAsker, handle: object, index: int, system_ram_mib: Value[float], parent: object
) -> _CudaDevice:
    """Return a device with all that NVML and the table tell.

    `parent` is its card, for a MIG instance.
    """

    def ask(name: str, *arguments: object, **options: object) -> Any:
        answer = asker.ask(name, *arguments, **options)
        if asker.code == _GPU_IS_LOST:
            raise _LostError
        return answer

    name = _text_answer(ask("nvmlDeviceGetName", handle))
    name_value: Value[str] = known_or_unknown(name, _NVML, f"the name cannot be read: {asker.why()}")
    uuid = _text_answer(ask("nvmlDeviceGetUUID", handle))
    card_name = name
    if parent is not None:
        card_name = _text_answer(ask("nvmlDeviceGetName", parent)) or name
    capability = ask("nvmlDeviceGetCudaComputeCapability", handle if parent is None else parent)
    capability_why = asker.why()
    total, reserved, free, source, memory_why = _memory_of_card(ask, asker, handle)
    unsupported = total is None and asker.code == _NOT_SUPPORTED
    rows = find_by_product_name(card_name or "")
    shares_ram = unsupported and bool(rows) and all(row.unified_memory for row in rows)
    whole_mib = total if not shares_ram else system_ram_mib.value
    found = match(card_name or "", whole_mib)
    if parent is not None:
        found = Match(found.rows, whole=False)
    known = device_facts(found, card_name or "a device without a name")
    memory: Value[int]
    total_mib: Value[int]
    if total is not None:
        total_mib = exact(total, source)
        if reserved is not None:
            memory = exact(total - reserved, f"{source}: total less reserved")
        else:
            memory = estimated(total, f"{source}: total; this driver does not tell what it reserves")
    elif shares_ram and system_ram_mib.value is not None:
        memory = total_mib = estimated(
            int(system_ram_mib.value), f"{system_ram_mib.source}; this GPU shares the memory of the CPU"
        )
    else:
        memory = total_mib = unknown(f"the memory cannot be read: {memory_why}")
    pair = _pair_answer(capability)
    gpu = Gpu(
        id=known.id,
        vendor="nvidia",
        name=name_value,
        memory_mib=memory,
        total_mib=total_mib,
        nominal_gib=_nominal_size(known, total),
        compute_capability=exact(pair, _NVML)
        if pair is not None
        else _or_table(known.compute_capability, f"it cannot be read: {capability_why}"),
        tensor_cores=_tensor_cores(known, pair),
        tensor_dtypes=known.tensor_dtypes,
        bandwidth_gbs=known.bandwidth_gbs,
        fp16_tflops=known.fp16_tflops,
        pcie=known.pcie if parent is not None else _fastest_link(ask, handle, known),
        nvlink_gbs=known.nvlink_gbs,
        free_mib=known_or_unknown(free, source, f"the free memory cannot be read: {memory_why}"),
        uuid=uuid,
        index=index,
        mig=_mig_name(name, uuid) if parent is not None else None,
        unified_memory=shares_ram,
    )
    card_uuid = uuid if parent is None else _text_answer(ask("nvmlDeviceGetUUID", parent))
    return _CudaDevice(gpu, uuid, card_uuid, parent is not None)


def _or_table(value: Value[T], reason: str) -> Value[T]:
    return value if value.known else unknown(reason)


def _text_answer(answer: object) -> str | None:
    """Return a text answer of NVML, decoded; None for an answer of another kind.

    Old bindings give bytes.
    """
    if isinstance(answer, bytes):
        answer = answer.decode("utf-8", "replace")
    return answer if isinstance(answer, str) and answer else None


def _pair_answer(answer: object) -> tuple[int, int] | None:
    if (
        isinstance(answer, (list, tuple))
        and len(answer) == 2
        and all(isinstance(part, int) for part in answer)
    ):
        return int(answer[0]), int(answer[1])
    return None


def _memory_of_card(
    ask: Callable[..., Any], asker: _NvmlAsker, handle: object
) -> tuple[int | None, int | None, int | None, str, str]:
    """Return total, reserved and free MiB, the source, and the reason where unknown.

    The second version of the call tells what the driver reserves; an older library has only the first.
    """
    version = getattr(asker.library, "nvmlMemory_v2", None)
    info = None if version is None else ask("nvmlDeviceGetMemoryInfo", handle, version=version)
    source = "NVML memory v2"
    if info is None and asker.code != _NOT_SUPPORTED:
        info = ask("nvmlDeviceGetMemoryInfo", handle)
        source = "NVML memory v1"
    why = asker.why()
    total = getattr(info, "total", None)
    if not isinstance(total, int) or total <= 0:
        return None, None, None, source, why
    reserved = getattr(info, "reserved", None)
    free = getattr(info, "free", None)
    valid = isinstance(reserved, int) and 0 <= reserved < total
    return (
        total // _MIB,
        -(-reserved // _MIB) if valid and isinstance(reserved, int) else None,
        free // _MIB if isinstance(free, int) and 0 <= free <= total else None,
        source,
        why,
    )


def _nominal_size(known: TableFacts, total_mib: int | None) -> Value[float]:
    """Return the nominal size of a card, from the table or the class of its total."""
    if known.nominal_gib.known:
        return known.nominal_gib
    size = None if total_mib is None else memory_class(total_mib / MIB_PER_GIB)
    if size is None:
        return known.nominal_gib
    return estimated(float(size), f"the size class of {total_mib} MiB")


def _tensor_cores(known: TableFacts, pair: tuple[int, int] | None) -> Value[bool]:
    """Return whether a card has tensor cores, by the table or compute capability.

    Below 7.0 there are none. 7.5 has cards without (GTX 16xx). From 8.0 on every data-centre, workstation and
    consumer card of the table has them.
    """
    if known.tensor_cores.known or pair is None:
        return known.tensor_cores
    shown = f"{pair[0]}.{pair[1]}"
    if pair < (7, 0):
        return exact(False, f"compute capability {shown}: tensor cores came with 7.0")
    if pair < (8, 0):
        return unknown(f"cards of compute capability {shown} exist with and without tensor cores")
    return estimated(True, f"every known card of compute capability {shown} or near has tensor cores")


def _fastest_link(ask: Callable[..., Any], handle: object, known: TableFacts) -> Value[str]:
    """Return the fastest link that card and slot support.

    The current link drops when the card idles.
    """
    generation = ask("nvmlDeviceGetMaxPcieLinkGeneration", handle)
    width = ask("nvmlDeviceGetMaxPcieLinkWidth", handle)
    if isinstance(generation, int) and isinstance(width, int) and generation > 0 and width > 0:
        return exact(f"{generation}.0 x{width}", f"{_NVML} maximum link")
    return known.pcie


def _mig_name(name: str | None, uuid: str | None) -> str:
    """Return the profile of a MIG instance, such as `1g.10gb`, else its UUID."""
    if name is not None and " MIG " in name:
        return name.rpartition(" MIG ")[2]
    return uuid or "MIG instance"


def _visible_devices(
    devices: list[_CudaDevice], environ: Mapping[str, str], notes: list[str], source: str
) -> GpuReading:
    """Return the devices that CUDA's rules for MIG and CUDA_VISIBLE_DEVICES leave."""
    value = environ.get(visible.VARIABLE)
    instances = [device for device in devices if device.is_mig]
    pool = devices
    uuids = [device.uuid for device in devices]
    unsure = False
    if instances and value is not None and not value.strip().startswith("MIG-"):
        # Numbers and GPU- ids mean cards; of a card in MIG mode CUDA takes one instance.
        pool = list({device.gpu.index: device for device in reversed(devices)}.values())[::-1]
        uuids = [device.card_uuid for device in pool]
    choice = visible.choose(value, uuids)
    if choice.note is not None:
        notes.append(choice.note)
    chosen = [pool[position] for position in choice.chosen]
    if any(device.is_mig for device in chosen):
        # The MIG user guide: a process sees one compute instance, and no whole card beside it.
        first = next(device for device in chosen if device.is_mig)
        if len(chosen) > 1:
            notes.append(f"CUDA shows a process one MIG instance only: {first.gpu.mig}")
        if len(instances) > 1 and (value is None or pool is not devices):
            unsure = len({device.gpu.total_mib.value for device in instances}) > 1
            notes.append(
                f"which MIG instance CUDA takes is not certain: set {visible.VARIABLE} to the UUID of one"
            )
        chosen = [first]
    gpus = tuple(replace(device.gpu, index=position) for position, device in enumerate(chosen))
    if value is not None:
        source = f"{source} and {visible.VARIABLE}={value[:60]}"
    if choice.by_index and 0 < len(chosen) < len(pool) and _do_differ(pool) and not _in_bus_order(environ):
        notes.append(
            f"{visible.VARIABLE}={(value or '')[:60]} picks cards by number, the cards differ, and CUDA numbers them "
            "fastest first: which cards are meant is not certain. Set CUDA_DEVICE_ORDER=PCI_BUS_ID, or use UUIDs"
        )
        unsure = True
    if unsure:
        gpus = tuple(_marked_uncertain(gpu) for gpu in gpus)
    return GpuReading(gpus, exact(len(gpus), source), tuple(notes))


def _in_bus_order(environ: Mapping[str, str]) -> bool:
    return environ.get("CUDA_DEVICE_ORDER", "").strip() == "PCI_BUS_ID"


def _do_differ(devices: list[_CudaDevice]) -> bool:
    return len({(device.gpu.name.value, device.gpu.total_mib.value) for device in devices}) > 1


_CARD_VALUES = (
    "name",
    "memory_mib",
    "total_mib",
    "nominal_gib",
    "compute_capability",
    "tensor_cores",
    "tensor_dtypes",
    "bandwidth_gbs",
    "fp16_tflops",
    "pcie",
    "nvlink_gbs",
    "free_mib",
)


def _marked_uncertain(gpu: Gpu) -> Gpu:
    """Return a card with every known value marked as possibly another card's."""
    changes: dict[str, Any] = {}
    for field in _CARD_VALUES:
        value: Value[Any] = getattr(gpu, field)
        if value.known:
            changes[field] = Value(
                value.value, f"{value.source}; which card this is, is not certain", Certainty.ESTIMATED
            )
    return replace(gpu, **changes)


# --- without the binding ----------------------------------------------------------------------------------------------


def _without_binding(root: Root, environ: Mapping[str, str], system_ram_mib: Value[float]) -> GpuReading:
    """Return the cards named in the driver's /proc folder (Linux), without NVML.

    The table adds what it knows of the names.
    """
    advice = "install cfgfix[gpu] (nvidia-ml-py) to read the GPUs"
    folder = "/proc/driver/nvidia/gpus"
    try:
        addresses = sorted(os.listdir(path_below(root, folder)))[:MAX_DEVICES]
    except OSError:
        addresses = []
    devices: list[_CudaDevice] = []
    for position, address in enumerate(addresses):
        name = uuid = None
        for line in (read_text(root, f"{folder}/{address}/information") or "").splitlines():
            key, _, content = line.partition(":")
            if key.strip() == "Model":
                name = content.strip() or None
            elif key.strip() == "GPU UUID":
                uuid = content.strip() or None
        devices.append(_device_by_name(name, uuid, position, system_ram_mib))
    if not devices:
        if has_nvidia_device(root):
            reason = f"there is an NVIDIA device, but the Python binding of its library is missing: {advice}"
            return GpuReading((), unknown(reason), (reason,))
        reason = "no NVIDIA GPU on this machine"
        return GpuReading((), exact(0, reason), (reason,) if is_real(root) else ())
    notes = [f"the GPUs are known by name only: {advice}"]
    return _visible_devices(devices, environ, notes, folder)


def _device_by_name(
    name: str | None, uuid: str | None, index: int, system_ram_mib: Value[float]
) -> _CudaDevice:
    """Return a card of which only the driver's name is known.

    MIG cannot be seen this way.
    """
    source = "/proc/driver/nvidia"
    found = match(name or "", None)
    known = device_facts(found, name or "a device without a name")
    row = found.rows[0] if len(found.rows) == 1 else None
    memory: Value[int] = unknown(f"{source} does not tell the memory")
    if row is not None and row.unified_memory and system_ram_mib.value is not None:
        memory = estimated(
            int(system_ram_mib.value), f"{system_ram_mib.source}; this GPU shares the memory of the CPU"
        )
    elif row is not None and row.nvml_total_mib is not None:
        memory = estimated(
            row.nvml_total_mib, f"{row.source('nvml_total')}, by the driver's name of the card"
        )
    gpu = Gpu(
        id=known.id,
        vendor="nvidia",
        name=known_or_unknown(name, source, f"{source} does not tell the name"),
        memory_mib=memory,
        total_mib=memory,
        nominal_gib=known.nominal_gib,
        compute_capability=known.compute_capability,
        tensor_cores=known.tensor_cores,
        tensor_dtypes=known.tensor_dtypes,
        bandwidth_gbs=known.bandwidth_gbs,
        fp16_tflops=known.fp16_tflops,
        pcie=known.pcie,
        nvlink_gbs=known.nvlink_gbs,
        free_mib=unknown(f"{source} does not tell the free memory"),
        uuid=uuid,
        index=index,
        unified_memory=row is not None and row.unified_memory,
    )
    return _CudaDevice(gpu, uuid, uuid, is_mig=False)
