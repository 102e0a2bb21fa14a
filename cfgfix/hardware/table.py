"""The table of known cards and machines: lookups by id and by the driver's name, and the facts of a row as values.

A live reading always wins; the table serves named profiles, and facts that the driver does not give (tensor cores,
types, bandwidth, rates).
"""

from __future__ import annotations

from cfgfix.core.records import dataclass
from cfgfix.hardware.model import (
    MIB_PER_GIB,
    Certainty,
    Gpu,
    T,
    Value,
    estimated,
    exact,
    has_nominal_size,
    known_or_unknown,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_VENDOR_PREFIX = "nvidia "

_QUOTED_BASES = frozenset({"whitepaper", "datasheet", "datasheet-quoted-by-open-source-table"})
"""Origins of a rate that go back to the maker's own figure."""


@dataclass(frozen=True, slots=True)
class GpuRow:
    """One card of the table; None means unknown or disputed.

    Columns as in `_table_data.GPU_COLUMNS`.
    """

    id: str
    vendor: str
    aliases: tuple[str, ...]
    names: tuple[str, ...]
    arch: str | None
    compute_capability: tuple[int, int] | None
    memory_gib: float | None
    nvml_total_mib: int | None
    nvml_total_mib_also_seen: tuple[int, ...]
    unified_memory: bool
    devices_per_board: int | None
    memory_bandwidth_gbs: float | None
    tensor_cores: bool
    tensor_dtypes: tuple[str, ...]
    fp16_dense_tflops: float | None
    bf16_dense_tflops: float | None
    tflops_basis: str | None
    pcie: str | None
    nvlink_gbs: float | None
    confidence: str
    checked: tuple[str, ...]
    notes: str | None

    def source(self, *aspects: str) -> str:
        """Return the source of a row's facts, as text.

        The checks of the given aspects (`cc`, `mem`, `bw`) are named.
        """
        checks = [check for check in self.checked if check.partition(":")[0] in aspects]
        origins = sorted({check.partition(":")[2] for check in checks})
        return f"gpus table: {self.id} ({', '.join(origins)})" if origins else f"gpus table: {self.id}"

    def fits(self, total_mib: float) -> bool:
        """Return whether a driver's total belongs to a whole card of this row."""
        if total_mib == self.nvml_total_mib or total_mib in self.nvml_total_mib_also_seen:
            return True
        if self.memory_gib is None:
            return False
        return (
            has_nominal_size(self.memory_gib, total_mib / MIB_PER_GIB)
            and total_mib <= self.memory_gib * MIB_PER_GIB
        )


@dataclass(frozen=True, slots=True)
class MachineRow:
    """One machine of the table; columns as in `_table_data.MACHINE_COLUMNS`."""

    id: str
    provider: str
    gpu: str | None
    gpu_count: int
    gpu_fraction: float | None
    gpu_memory_mib: int | None
    vcpus: int | None
    ram_gib: float | None
    local_nvme_gb: float | None
    confidence: str
    sources: tuple[str, ...]
    notes: str | None

    def source(self) -> str:
        """Return the source of a row's facts, as text."""
        return f"machines table: {self.id} ({', '.join(self.sources)})"


@dataclass(frozen=True, slots=True)
class Match:
    """The cards of the table that have a driver's device name."""

    rows: tuple[GpuRow, ...]
    """The cards that the name may stand for; empty for an unknown name."""
    whole: bool
    """Whether the memory is that of a whole card; False for a virtual or partitioned one."""


def normalise(text: str) -> str:
    """Return a name for comparing: lower case, without `-`, `_` and spaces."""
    return text.lower().replace("-", "").replace("_", "").replace(" ", "")


def _bare_name(name: str) -> str:
    """Return a driver's device name in the form for comparing.

    The maker is taken off, since older drivers leave it out on GeForce and TITAN.
    """
    lowered = " ".join(name.lower().split())
    return lowered.removeprefix(_VENDOR_PREFIX)


class _TableIndex:
    """The lookups of the table, built on first use.

    They hold raw rows, since a run looks at one or two of them.
    """

    __slots__ = ("gpus", "machines", "names")

    def __init__(self) -> None:
        from cfgfix.hardware import _table_data

        self.gpus: dict[str, tuple[Any, ...]] = {}
        self.names: dict[str, list[tuple[Any, ...]]] = {}
        for raw in _table_data.GPUS:
            name, _vendor, aliases, product_names, *_ = raw
            for key in (name, *aliases):
                self.gpus[normalise(key)] = raw
            for product_name in product_names:
                self.names.setdefault(_bare_name(product_name), []).append(raw)
        self.machines: dict[str, tuple[Any, ...]] = {normalise(raw[0]): raw for raw in _table_data.MACHINES}


_built: list[_TableIndex] = []


def _table_index() -> _TableIndex:
    if not _built:
        _built.append(_TableIndex())
    return _built[0]


def gpu_rows() -> list[GpuRow]:
    """Return every card of the table, in its order."""
    return [GpuRow(*raw) for raw in {raw[0]: raw for raw in _table_index().gpus.values()}.values()]


def machine_rows() -> list[MachineRow]:
    """Return every machine of the table, in its order."""
    return [MachineRow(*raw) for raw in _table_index().machines.values()]


def find_gpu(text: str) -> GpuRow | None:
    """Return the card with an id or alias, or None; case and separators do not count."""
    raw = _table_index().gpus.get(normalise(text))
    return GpuRow(*raw) if raw is not None else None


def find_machine(text: str) -> MachineRow | None:
    """Return the machine with an id, or None; case and separators do not count."""
    raw = _table_index().machines.get(normalise(text))
    return MachineRow(*raw) if raw is not None else None


def find_by_product_name(text: str) -> tuple[GpuRow, ...]:
    """Return the cards with this whole product name in the driver."""
    return tuple(GpuRow(*raw) for raw in _table_index().names.get(_bare_name(text), ()))


def match(name: str, total_mib: float | None) -> Match:
    """Return the cards that a device can be, by its driver name and memory.

    Args:
        name: The name the driver reports. Only whole names match: "GB200" contains "B200".
        total_mib: The total the driver reports; None where it does not tell.
    """
    rows = find_by_product_name(name)
    if total_mib is None or not rows:
        return Match(rows, whole=True)
    fitting = tuple(row for row in rows if row.fits(total_mib))
    return Match(fitting, whole=True) if fitting else Match(rows, whole=False)


def suggestions(text: str) -> list[str]:
    """Return the ids nearest to a name that is in no table, best first."""
    from difflib import get_close_matches

    index = _table_index()
    wanted = normalise(text)
    known = {
        **{key: raw[0] for key, raw in index.machines.items()},
        **{key: raw[0] for key, raw in index.gpus.items()},
    }
    near = get_close_matches(wanted, known, n=3, cutoff=0.6)
    if len(wanted) >= 3:
        near += sorted(key for key in known if wanted in key)
    return list(dict.fromkeys(known[key] for key in near))[:3]


def agreed_fact(rows: tuple[GpuRow, ...], field: Callable[[GpuRow], T | None]) -> T | None:
    """Return the fact that is the same in all rows, or None."""
    first = field(rows[0]) if rows else None
    return first if all(field(row) == first for row in rows) else None


def _source_of_rows(rows: tuple[GpuRow, ...], *aspects: str) -> str:
    if len(rows) == 1:
        return rows[0].source(*aspects)
    return "gpus table: the same for " + ", ".join(row.id for row in rows)


@dataclass(frozen=True, slots=True)
class TableFacts:
    """The table's facts on a device, or on a profile's card."""

    id: str | None
    tensor_cores: Value[bool]
    tensor_dtypes: Value[tuple[str, ...]]
    bandwidth_gbs: Value[float]
    fp16_tflops: Value[float]
    nvlink_gbs: Value[float]
    nominal_gib: Value[float]
    compute_capability: Value[tuple[int, int]]
    pcie: Value[str]


def device_facts(found: Match, name: str) -> TableFacts:
    """Return the table's facts on a device.

    Where a name stands for several cards, only what is true of all of them is kept. A part of a card (virtual GPU,
    MIG instance) keeps what its chip is and loses what it has a share of: bandwidth, rate, size.
    """
    rows = found.rows
    if not rows:
        reason = f"{name!r} is not in the gpus table"
        return TableFacts(
            None, *(unknown(reason) for _ in range(8))
        )  # the eight values of the tuple; each has its own type
    several = f"{name!r} stands for " + ", ".join(row.id for row in rows)
    disputed = f"gpus table: unknown or disputed for {rows[0].id}" if len(rows) == 1 else several
    share = "the table knows the whole card, this device is a part of it"
    rate = agreed_fact(rows, lambda row: row.fp16_dense_tflops)
    basis = agreed_fact(rows, lambda row: row.tflops_basis)
    rate_source = f"{_source_of_rows(rows)}: {basis}" if basis else _source_of_rows(rows)

    def whole(value: T | None, source: str) -> Value[T]:
        return known_or_unknown(value, source, disputed) if found.whole else unknown(share)

    return TableFacts(
        id=rows[0].id if len(rows) == 1 and found.whole else None,
        tensor_cores=known_or_unknown(
            agreed_fact(rows, lambda row: row.tensor_cores), _source_of_rows(rows), several
        ),
        tensor_dtypes=known_or_unknown(
            agreed_fact(rows, lambda row: row.tensor_dtypes), _source_of_rows(rows), several
        ),
        bandwidth_gbs=whole(
            agreed_fact(rows, lambda row: _number_or_none(row.memory_bandwidth_gbs)),
            _source_of_rows(rows, "bw"),
        ),
        fp16_tflops=_rate_value(rate, rate_source, disputed, basis) if found.whole else unknown(share),
        nvlink_gbs=whole(
            agreed_fact(rows, lambda row: _number_or_none(row.nvlink_gbs)), _source_of_rows(rows)
        ),
        nominal_gib=whole(
            agreed_fact(rows, lambda row: _number_or_none(row.memory_gib)), _source_of_rows(rows, "mem")
        ),
        compute_capability=known_or_unknown(
            agreed_fact(rows, lambda row: row.compute_capability),
            _source_of_rows(rows, "cc"),
            _no_capability(rows, disputed),
        ),
        pcie=whole(agreed_fact(rows, lambda row: row.pcie), _source_of_rows(rows)),
    )


def _number_or_none(value: float | None) -> float | None:
    return None if value is None else float(value)


def _no_capability(rows: tuple[GpuRow, ...], otherwise: str) -> str:
    vendor = agreed_fact(rows, lambda row: row.vendor)
    return f"a card of {vendor} has no CUDA compute capability" if vendor in {"amd", "apple"} else otherwise


def _rate_value(rate: float | None, source: str, reason: str, basis: str | None) -> Value[float]:
    certainty = Certainty.EXACT if basis in _QUOTED_BASES else Certainty.ESTIMATED
    return known_or_unknown(_number_or_none(rate), source, reason, certainty)


def profile_gpus(row: GpuRow, count: int, *, unified_ram_mib: Value[float] | None = None) -> tuple[Gpu, ...]:
    """Return the devices on some boards of a card, from the table alone.

    Args:
        row: The card.
        count: Boards; a board with two devices gives twice as many.
        unified_ram_mib: The memory of the profile's machine, for a card that shares it with the CPU.
    """
    per_board = row.devices_per_board or 1
    return tuple(_profile_gpu(row, index, per_board, unified_ram_mib) for index in range(count * per_board))


def _profile_gpu(row: GpuRow, index: int, per_board: int, unified_ram_mib: Value[float] | None) -> Gpu:
    name = row.names[0] if row.names else row.id
    known = device_facts(Match((row,), whole=True), name)
    nominal = known.nominal_gib
    bandwidth, rate = known.bandwidth_gbs, known.fp16_tflops
    if per_board > 1:
        share = f"; one of {per_board} devices of the board"
        nominal = _divided_value(nominal, per_board, share)
        bandwidth = _divided_value(bandwidth, per_board, share)
        rate = _divided_value(rate, per_board, share)
    if row.unified_memory and unified_ram_mib is not None and unified_ram_mib.value is not None:
        source = f"{unified_ram_mib.source}; this GPU shares the memory of the CPU"
        memory = estimated(int(unified_ram_mib.value), source)
    elif row.nvml_total_mib is not None:
        source = f"{row.source('nvml_total')}: the driver's total, less what it reserves (not known)"
        memory = estimated(row.nvml_total_mib, source)
    elif nominal.value is not None:
        source = f"{nominal.source}: nominal size; a driver reports up to 8 % less"
        memory = estimated(int(nominal.value * MIB_PER_GIB), source)
    else:
        memory = unknown(f"gpus table: the memory of {row.id} is unknown or disputed")
    return Gpu(
        id=row.id,
        vendor=row.vendor,
        name=exact(name, row.source("name")),
        memory_mib=memory,
        total_mib=memory,
        nominal_gib=nominal,
        compute_capability=known.compute_capability,
        tensor_cores=known.tensor_cores,
        tensor_dtypes=known.tensor_dtypes,
        bandwidth_gbs=bandwidth,
        fp16_tflops=rate,
        pcie=known.pcie,
        nvlink_gbs=known.nvlink_gbs,
        free_mib=unknown("a profile does not say what other processes use"),
        index=index,
        unified_memory=row.unified_memory,
    )


def _divided_value(value: Value[float], parts: int, remark: str) -> Value[float]:
    if value.value is None:
        return value
    return Value(value.value / parts, value.source + remark, value.certainty)
