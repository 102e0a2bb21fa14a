"""What a machine has, as data: every value carries where it came from and how sure it is.

Units are in the names: `mib` and `gib` are 2**20 and 2**30 bytes, `gbs` is 10**9 bytes per second, `mbs` is 10**6
bytes per second, `tflops` is 10**12 operations per second.
"""

from __future__ import annotations

import enum
from collections.abc import Callable

from cfgfix.core.records import dataclass, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Generic, TypeVar, cast

    T = TypeVar("T")
    S = TypeVar("S")
else:  # `typing` takes a twentieth of a check's start-up time
    T = S = None

    class Generic:
        """Stands for `typing.Generic`: a class that may be subscripted."""

        __slots__ = ()

        def __class_getitem__(cls, _of: object) -> type:
            """Return the class itself."""
            return cls

    def cast(_type: str, value: object) -> object:
        """Return the value, as `typing.cast` does."""
        return value


MIB_PER_GIB = 1024

REACHED_RATIO = 0.92
"""A card of nominal size N reports at least this share of it. The lowest ratio among the totals known from the driver
is 15109 MiB for a T4 sold as 16 GB on older drivers (0.922); every other known total lies above."""

TIERS_GIB: tuple[int, ...] = (4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 141, 180, 288)
"""Sizes that rules speak of. At `REACHED_RATIO` every known driver total falls into the class of its card."""


class Certainty(enum.Enum):
    """How far a value of a machine can be trusted."""

    EXACT = "exact"
    """Read from the machine, stated by the user, or a published fact of the product."""
    ESTIMATED = "estimated"
    """Derived, disputed, or true of the product but not necessarily of this machine."""
    UNKNOWN = "unknown"
    """Not known; a rule that needs it does not apply."""


class _ComparableRecord:
    """Comparison, hash and text of the records below.

    Written once here, since generating them for each record would take a quarter of this module's import time.
    """

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in self.__slots__))

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{self.__class__.__name__}({inner})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Value(_ComparableRecord, Generic[T]):
    """A value with its origin.

    `value` is None exactly where `certainty` is UNKNOWN; `source` then says why it is not known.
    """

    value: T | None
    source: str
    certainty: Certainty

    @property
    def known(self) -> bool:
        """Whether there is a value."""
        return self.certainty is not Certainty.UNKNOWN


def exact(value: T, source: str) -> Value[T]:
    """Return a value that was read or stated, marked as exact."""
    return Value(value, source, Certainty.EXACT)


def estimated(value: T, source: str) -> Value[T]:
    """Return a value that was derived or may differ here, marked as estimated."""
    return Value(value, source, Certainty.ESTIMATED)


def unknown(reason: str) -> Value[T]:
    """Return an unknown value, with the reason."""
    return Value(None, reason, Certainty.UNKNOWN)


def known_or_unknown(
    value: T | None, source: str, reason: str, certainty: Certainty = Certainty.EXACT
) -> Value[T]:
    """Return a value with its source; None becomes an unknown value with the reason."""
    return Value(None, reason, Certainty.UNKNOWN) if value is None else Value(value, source, certainty)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Gpu(_ComparableRecord):
    """One GPU as CUDA would show it to this process.

    It is a card, a MIG instance, or a part of a card.
    """

    id: str | None
    """The id in the table of known cards; None where the card is not in it, or where its name stands for several."""
    vendor: str
    """`nvidia`, `amd`, `apple` or an empty text where it is not known."""
    name: Value[str]
    memory_mib: Value[int]
    """What CUDA can use: total less what the driver reserves, where that is known."""
    total_mib: Value[int]
    """The total that NVML reports; the size class of a card is judged by this one."""
    nominal_gib: Value[float]
    """The size on the box."""
    compute_capability: Value[tuple[int, int]]
    tensor_cores: Value[bool]
    """Whether there are matrix units (NVIDIA: tensor cores)."""
    tensor_dtypes: Value[tuple[str, ...]]
    """Input types of those units that matter for training, such as `fp16`, `bf16`, `tf32`, `fp8`."""
    bandwidth_gbs: Value[float]
    """Peak memory bandwidth."""
    fp16_tflops: Value[float]
    """Dense FP16 rate of the tensor cores with FP32 accumulation; measured rates are about 80 % of it. For ordering only."""
    pcie: Value[str]
    """The most the card and slot can do, such as `4.0 x16`."""
    nvlink_gbs: Value[float]
    """Total in both directions for this card; 0 where it has none."""
    free_mib: Value[int]
    """Free at the time of reading; changes from second to second."""
    uuid: str | None = None
    index: int = 0
    """Position among the devices this process sees, from 0."""
    mig: str | None = None
    """The name or UUID of the MIG instance, where this is one."""
    unified_memory: bool = False
    """The GPU shares the memory of the CPU."""

    def reaches(self, nominal_gib: float) -> bool | None:
        """Return whether this card counts as one of at least `nominal_gib`.

        None where its memory is unknown.
        """
        if self.total_mib.value is not None:
            return has_nominal_size(nominal_gib, self.total_mib.value / MIB_PER_GIB)
        if self.nominal_gib.value is not None:
            return has_nominal_size(nominal_gib, self.nominal_gib.value)
        return None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cpu(_ComparableRecord):
    """The processors of the machine, and how many of them this process may really use."""

    logical: Value[int]
    """Logical processors of the machine."""
    usable: Value[float]
    """What affinity, cgroup quota and scheduler leave; 0.5 is half a processor."""
    limited_by: str
    """What decides `usable`, for messages."""
    amx_bf16: Value[bool]
    """Whether the CPU has AMX units for bfloat16."""

    def workers(self) -> int | None:
        """Return the number of usable processors as a whole number, at least one.

        So many workers can run at once. None where the number is unknown.
        """
        return None if self.usable.value is None else max(1, int(self.usable.value))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Memory(_ComparableRecord):
    """Host memory that this process may use."""

    total_mib: Value[float]
    """The limit in force."""
    available_mib: Value[float]
    """What is left of it at the time of reading."""
    limited_by: str
    """What decides `total_mib`, for messages."""
    shm_mib: Value[float]
    """Size of /dev/shm."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Storage(_ComparableRecord):
    """Where the data lies.

    `kind` is one of `nvme`, `ssd`, `hdd`, `network`, `network-disk` (a block device served over a network, such as
    Amazon EBS), `ram`, `unknown-virtual` (a virtual disk that does not tell what is below it) and `unknown` (it was
    looked at, and cannot be told).
    """

    kind: Value[str]
    read_mbs: Value[float]
    """Measured or stated read speed."""
    path: str | None = None


STORAGE_KINDS: tuple[str, ...] = (
    "nvme",
    "ssd",
    "hdd",
    "network",
    "network-disk",
    "ram",
    "unknown-virtual",
    "unknown",
)
"""Every kind that `Storage.kind` can have."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hardware(_ComparableRecord):
    """The machine a run is meant for."""

    label: str
    """`auto`, the profile as the user named it, or a file name."""
    origin: str
    """`live` (this machine), `profile` (named) or `file`."""
    gpus: tuple[Gpu, ...]
    gpu_count: Value[int]
    cpu: Cpu
    memory: Memory
    storage: Storage
    host_ram_mib: Value[float]
    """Memory of the whole machine, whatever this process may use of it."""
    has_quota: Value[bool]
    """Whether a cgroup limits CPU time: TensorFlow counts processors by affinity and does not see such a limit."""
    tf_reserve_mib: Value[int]
    """TF_DEVICE_MIN_SYS_MEMORY_IN_MB, where it is set: what TensorFlow leaves free on each card."""
    notes: tuple[str, ...] = ()

    def lookup(self, path: str) -> Value[object] | None:
        """Return the value behind a dotted name such as `gpus[1].cc` or `cpu.usable`.

        Where the cards differ, each `gpu.` name is that of the card that bounds a run on all of them (the least
        memory, the lowest compute capability, a feature only if every card has it), and the source says so.

        Returns:
            The value, UNKNOWN where it is not known; None for a name that does not exist (see `NAMES`).
        """
        reader = _READERS.get(path)
        if reader is not None:
            return reader(self)
        if path.startswith("gpus[") and "]." in path:
            position, _, field = path[5:].partition("].")
            card_reader = _CARD_READERS.get(field)
            if card_reader is None or not position.isdigit() or len(position) > 4:
                return None
            index = int(position)
            if index >= len(self.gpus):
                return unknown(f"{self.label} has {len(self.gpus)} GPUs, none with the index {index}")
            return card_reader(self, self.gpus[index])
        return None

    def reaches(self, nominal_gib: float) -> bool | None:
        """Return whether every card counts as one of at least `nominal_gib`.

        None where that is not known.
        """
        answers = [gpu.reaches(nominal_gib) for gpu in self.gpus]
        if not answers:
            return None
        if False in answers:
            return False
        return None if None in answers else True

    def fingerprint(self) -> str:
        """Return a stable hash of the facts, for cache keys.

        The values that change by the second (`VOLATILE`) are left out; an answer that used one of them must not be
        cached.
        """
        from hashlib import blake2b

        still: Value[int] = unknown("volatile")
        still_float: Value[float] = unknown("volatile")
        facts = replace(
            self,
            gpus=tuple(replace(gpu, free_mib=still) for gpu in self.gpus),
            memory=replace(self.memory, available_mib=still_float),
        )
        return blake2b(repr(facts).encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def has_nominal_size(nominal_gib: float, total_gib: float) -> bool:
    """Tell whether a card that reports `total_gib` counts as one of a nominal size."""
    return total_gib >= REACHED_RATIO * nominal_gib


def memory_class(total_gib: float) -> int | None:
    """Return the largest memory tier that a card reaches, of `TIERS_GIB`.

    None below the smallest.
    """
    best = None
    for tier in TIERS_GIB:
        if has_nominal_size(tier, total_gib):
            best = tier
    return best


def tensorflow_reserve_mib(available_mib: float, compute_capability: tuple[int, int]) -> int:
    """Return the MiB that TensorFlow leaves free on a card with `available_mib`.

    The steps are those of `MinSystemMemory` in TensorFlow's gpu_device.cc: 225 MiB below 2 GiB; else by the major
    compute capability 500 (up to 6), 1050 (7), 1536 (8), 1800 (9 and above).
    """
    if available_mib < 2048:
        return 225
    major = compute_capability[0]
    if major <= 6:
        return 500
    return {7: 1050, 8: 1536}.get(major, 1800)


def _mapped_value(value: Value[S], change: Callable[[S], T]) -> Value[T]:
    if value.value is None:
        return unknown(value.source)
    return Value(change(value.value), value.source, value.certainty)


def _cc_number(pair: tuple[int, int]) -> int:
    return pair[0] * 10 + pair[1]


def _gib_of(mib: float) -> float:
    return mib / MIB_PER_GIB


def _text_value(text: str) -> Value[str]:
    return exact(text, text) if text else unknown("not known")


def _dtype_support(gpu: Gpu, dtype: str, since: tuple[int, int]) -> Value[bool]:
    """Return whether a card computes in `dtype`, by the table or compute capability."""
    if gpu.tensor_dtypes.value is not None:
        return _mapped_value(gpu.tensor_dtypes, lambda types: dtype in types)
    return _mapped_value(gpu.compute_capability, lambda pair: pair >= since)


def _usable_mib(hardware: Hardware, gpu: Gpu) -> Value[float]:
    """Return the memory that TensorFlow takes on an otherwise idle card.

    It is what CUDA can use, less TensorFlow's reserve.
    """
    memory = gpu.memory_mib
    if memory.value is None:
        return unknown(memory.source)
    stated = hardware.tf_reserve_mib
    if stated.value is not None:
        left = max(0, memory.value - stated.value)
        return estimated(float(left), f"{memory.source}, less {stated.value} MiB ({stated.source})")
    if gpu.compute_capability.value is None:
        return unknown(
            f"TensorFlow's reserve depends on the compute capability: {gpu.compute_capability.source}"
        )
    reserve = tensorflow_reserve_mib(memory.value, gpu.compute_capability.value)
    left = max(0, memory.value - reserve)
    return estimated(float(left), f"{memory.source}, less the {reserve} MiB that TensorFlow leaves free")


_CardReader = Callable[["Hardware", Gpu], Value[object]]


def _card_reader(reader: Callable[[Gpu], Value[T]]) -> _CardReader:
    def read(_: Hardware, gpu: Gpu) -> Value[object]:
        return cast("Value[object]", reader(gpu))

    return read


_CARD_READERS: dict[str, _CardReader] = {
    "name": _card_reader(lambda gpu: gpu.name),
    "vendor": _card_reader(lambda gpu: _text_value(gpu.vendor)),
    "memory_mib": _card_reader(lambda gpu: gpu.memory_mib),
    "memory_gib": _card_reader(lambda gpu: _mapped_value(gpu.memory_mib, _gib_of)),
    "total_mib": _card_reader(lambda gpu: gpu.total_mib),
    "total_gib": _card_reader(lambda gpu: _mapped_value(gpu.total_mib, _gib_of)),
    "nominal_gib": _card_reader(lambda gpu: gpu.nominal_gib),
    "usable_mib": lambda hardware, gpu: cast("Value[object]", _usable_mib(hardware, gpu)),
    "usable_gib": lambda hardware, gpu: cast(
        "Value[object]", _mapped_value(_usable_mib(hardware, gpu), _gib_of)
    ),
    "free_mib": _card_reader(lambda gpu: gpu.free_mib),
    "cc": _card_reader(lambda gpu: _mapped_value(gpu.compute_capability, _cc_number)),
    "tensor_cores": _card_reader(lambda gpu: gpu.tensor_cores),
    "bf16": _card_reader(lambda gpu: _dtype_support(gpu, "bf16", (8, 0))),
    "tf32": _card_reader(lambda gpu: _dtype_support(gpu, "tf32", (8, 0))),
    "bandwidth_gbs": _card_reader(lambda gpu: gpu.bandwidth_gbs),
    "fp16_tflops": _card_reader(lambda gpu: gpu.fp16_tflops),
    "nvlink_gbs": _card_reader(lambda gpu: gpu.nvlink_gbs),
    "pcie": _card_reader(lambda gpu: gpu.pcie),
    "mig": _card_reader(lambda gpu: exact(gpu.mig is not None, "the kind of device")),
    "unified_memory": _card_reader(lambda gpu: exact(gpu.unified_memory, "the kind of device")),
}
"""What can be asked of one card."""


def _smallest_card(hardware: Hardware) -> int:
    """Return the index of the card with the least memory.

    Cards of unknown memory come last.
    """
    sizes = [
        float("inf") if gpu.memory_mib.value is None else float(gpu.memory_mib.value) for gpu in hardware.gpus
    ]
    return sizes.index(min(sizes))


def _least_of_cards(values: Iterable[Value[object]]) -> Value[object]:
    """Return the smallest of the cards' values, for flags false if one is false.

    Unknown where a value that could decide is unknown.
    """
    found = list(values)
    for value in found:
        if value.value is False:
            return value
    for value in found:
        if value.value is None:
            return value
    return min(found, key=lambda value: cast("float", value.value))


def _shared_value(hardware: Hardware, field: str) -> Value[object] | None:
    """Return the value that all cards share, or None where they differ."""
    first = _CARD_READERS[field](hardware, hardware.gpus[0])
    for gpu in hardware.gpus[1:]:
        if _CARD_READERS[field](hardware, gpu).value != first.value:
            return None
    return first


def _all_cards(field: str) -> Callable[[Hardware], Value[object]]:
    textual = field in {"name", "vendor", "pcie"}
    either = field in {"mig", "unified_memory"}

    def read(hardware: Hardware) -> Value[object]:
        if not hardware.gpus:
            count = hardware.gpu_count
            return unknown(f"{hardware.label} has no GPU" if count.value == 0 else count.source)
        same = _shared_value(hardware, field)
        if same is not None:
            return same
        reader = _CARD_READERS[field]
        if textual:
            weakest = _smallest_card(hardware)
            value = reader(hardware, hardware.gpus[weakest])
            return Value(
                value.value, f"{value.source}; the smallest of {len(hardware.gpus)} cards", value.certainty
            )
        values = [reader(hardware, gpu) for gpu in hardware.gpus]
        if either:
            return next(value for value in values if value.value)
        value = _least_of_cards(values)
        return Value(
            value.value, f"{value.source}; the least of {len(hardware.gpus)} different cards", value.certainty
        )

    return read


def _whether_cards_differ(hardware: Hardware) -> Value[object]:
    """Return whether the cards differ in model, memory or compute capability."""
    if not hardware.gpus:
        return unknown(f"{hardware.label} has no GPU")
    kinds = {(gpu.name.value, gpu.total_mib.value, gpu.compute_capability.value) for gpu in hardware.gpus}
    return exact(len(kinds) > 1, hardware.gpus[0].name.source)


def _value_reader(reader: Callable[[Hardware], Value[T]]) -> Callable[[Hardware], Value[object]]:
    return cast("Callable[[Hardware], Value[object]]", reader)


_READERS: dict[str, Callable[[Hardware], Value[object]]] = {
    "cpu.logical": _value_reader(lambda hardware: hardware.cpu.logical),
    "cpu.usable": _value_reader(lambda hardware: hardware.cpu.usable),
    "cpu.limited_by": _value_reader(lambda hardware: _text_value(hardware.cpu.limited_by)),
    "cpu.amx_bf16": _value_reader(lambda hardware: hardware.cpu.amx_bf16),
    "quota": _value_reader(lambda hardware: hardware.has_quota),
    "memory.ram_mib": _value_reader(lambda hardware: hardware.memory.total_mib),
    "memory.ram_gib": _value_reader(lambda hardware: _mapped_value(hardware.memory.total_mib, _gib_of)),
    "memory.available_mib": _value_reader(lambda hardware: hardware.memory.available_mib),
    "memory.limited_by": _value_reader(lambda hardware: _text_value(hardware.memory.limited_by)),
    "host_ram_mib": _value_reader(lambda hardware: hardware.host_ram_mib),
    "host_ram_gib": _value_reader(lambda hardware: _mapped_value(hardware.host_ram_mib, _gib_of)),
    "shm_mib": _value_reader(lambda hardware: hardware.memory.shm_mib),
    "storage.kind": _value_reader(lambda hardware: hardware.storage.kind),
    "storage.read_mbs": _value_reader(lambda hardware: hardware.storage.read_mbs),
    "gpu.count": _value_reader(lambda hardware: hardware.gpu_count),
    "gpu.mixed": _whether_cards_differ,
    "gpu.min_memory_mib": _all_cards("memory_mib"),
    **{f"gpu.{field}": _all_cards(field) for field in _CARD_READERS},
}

NAMES: tuple[str, ...] = tuple(_READERS)
"""Every name that `Hardware.lookup` knows, besides `gpus[INDEX].FIELD` with a field of `CARD_FIELDS`."""

CARD_FIELDS: tuple[str, ...] = tuple(_CARD_READERS)
"""What can be asked of one card, after `gpus[INDEX].`."""

VOLATILE = frozenset({"memory.available_mib", "gpu.free_mib"})
"""Names whose values change from second to second: not part of `fingerprint`. `gpus[INDEX].free_mib` is one too."""


def is_name(path: str) -> bool:
    """Return whether `Hardware.lookup` knows a name, whatever the machine."""
    if path in _READERS:
        return True
    if not path.startswith("gpus["):
        return False
    position, separator, field = path[5:].partition("].")
    return bool(separator) and position.isdigit() and len(position) <= 4 and field in _CARD_READERS
