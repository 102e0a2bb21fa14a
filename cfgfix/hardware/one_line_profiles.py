"""Machines described in one line, such as `rtx4090x2,cpus=8,ram=64`, and by the limits of a job."""

from __future__ import annotations

from cfgfix.core.errors import CfgfixError
from cfgfix.hardware.profile_facts import blank, check_number, check_storage, find_card, similar_names_hint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfgfix.hardware.model import Gpu, Hardware, Value
    from cfgfix.hardware.table import GpuRow, MachineRow

_OPTIONS = ("cpus", "ram", "storage", "shm")
_UNITS_MIB = {
    "m": 1.0,
    "mb": 1.0,
    "mib": 1.0,
    "g": 1024.0,
    "gb": 1024.0,
    "gib": 1024.0,
    "t": 1048576.0,
    "tb": 1048576.0,
    "tib": 1048576.0,
}
"""People write GB and mean what the system shows, so both spellings are powers of 1024."""


def machine_of_line(text: str) -> Hardware:
    """Return the machine that a one-line profile describes: a name and options.

    Raises:
        CfgfixError: The name or an option is not known.
    """
    head, *options = [part.strip() for part in text.split(",")]
    stated = _read_options(options, text)
    if head.lower() == "cpu":
        return _build_machine(text, None, None, 0, stated)
    machine, row, count = _find_profile(head)
    return _build_machine(text, machine, row, count, stated)


def _find_profile(name: str) -> tuple[MachineRow | None, GpuRow | None, int]:
    """Return the machine, or the card and its count, with a name."""
    from cfgfix.hardware import table

    machine = table.find_machine(name)
    if machine is not None:
        return machine, None, 1
    row = find_card(name)
    if row is not None:
        return None, row, 1
    left, cross, digits = name.lower().rpartition("x")
    if cross and digits.isascii() and digits.isdigit() and len(digits) <= 2:
        if table.find_machine(left) is not None:
            raise CfgfixError(
                f"{left.strip()!r} is a whole machine and cannot be multiplied",
                hint="a profile is one machine; for several of them check each worker with the profile of one",
            )
        row = find_card(left)
        if row is not None:
            if int(digits) == 0:
                raise CfgfixError(f"{name!r} has no card", hint="write cpu for a machine without a GPU")
            return None, row, int(digits)
    raise CfgfixError(f"unknown hardware {name!r}", hint=similar_names_hint(name))


class _StatedOptions:
    """The options of a one-line profile; None where it does not state them."""

    __slots__ = ("cpus", "ram_mib", "read_mbs", "shm_mib", "storage")

    def __init__(self) -> None:
        self.cpus: float | None = None
        self.ram_mib: float | None = None
        self.shm_mib: float | None = None
        self.storage: str | None = None
        self.read_mbs: float | None = None


def _read_options(options: list[str], text: str) -> _StatedOptions:
    stated = _StatedOptions()
    seen: set[str] = set()
    for option in options:
        key, equals, value = (part.strip() for part in option.partition("="))
        key = key.lower()
        if key not in _OPTIONS:
            from cfgfix.hardware.saved import suggestion

            known = ", ".join(f"{name}=" for name in _OPTIONS)
            raise CfgfixError(
                f"unknown option {key!r} in the profile {text!r}{suggestion(key, list(_OPTIONS))}",
                hint=f"use {known}",
            )
        if not equals or not value:
            raise CfgfixError(
                f"the option {key!r} in the profile {text!r} has no value", hint=f"write {key}=VALUE"
            )
        if key in seen:
            raise CfgfixError(f"the option {key!r} stands twice in the profile {text!r}")
        seen.add(key)
        try:
            if key == "cpus":
                stated.cpus = check_number(_to_number(value))
            elif key == "ram":
                stated.ram_mib = _to_mib(value, "gib")
            elif key == "shm":
                stated.shm_mib = _to_mib(value, "mib")
            else:
                stated.storage = check_storage(value.lower())
        except ValueError as error:
            raise CfgfixError(f"{key} in the profile {text!r} {error}") from None
    return stated


def _to_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"must be a number, not {text!r}") from None


def _to_mib(text: str, unit: str) -> float:
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    written = text[len(digits) :].lower() or unit
    if written not in _UNITS_MIB:
        raise ValueError(f"has the unknown unit {written!r}; use MiB or GiB")
    return check_number(_to_number(digits.strip())) * _UNITS_MIB[written]


def _build_machine(
    label: str, machine: MachineRow | None, row: GpuRow | None, count: int, stated: _StatedOptions
) -> Hardware:
    """Return the machine of a one-line profile, from its name and options."""
    from cfgfix.core.records import replace
    from cfgfix.hardware import table
    from cfgfix.hardware.model import estimated, exact, unknown

    source = f"profile {label}"
    notes: list[str] = []
    hardware = blank(label, "profile", f"the profile {label!r} does not say")
    cpu, memory, storage = hardware.cpu, hardware.memory, hardware.storage
    host_ram = hardware.host_ram_mib
    if machine is not None:
        origin = machine.source()
        if machine.vcpus is not None:
            logical = (
                exact(machine.vcpus, origin)
                if machine.confidence == "high"
                else estimated(machine.vcpus, origin)
            )
            usable = estimated(float(machine.vcpus), f"{origin}: all vCPUs; a container or job may get fewer")
            cpu = replace(
                cpu, logical=logical, usable=usable, limited_by=f"the {machine.vcpus} vCPUs of {machine.id}"
            )
        if machine.ram_gib is not None:
            ram = estimated(machine.ram_gib * 1024.0, f"{origin}: before the kernel's share")
            memory = replace(memory, total_mib=ram, limited_by=f"the memory of {machine.id}")
            host_ram = ram
        if machine.local_nvme_gb:
            notes.append(
                f"{machine.id} has {machine.local_nvme_gb:g} GB of local NVMe; whether the data lies there is not known "
                "(say storage=nvme)"
            )
        if machine.notes:
            notes.append(f"{machine.id}: {machine.notes}")
    if stated.cpus is not None:
        usable = exact(stated.cpus, f"{source}: cpus={stated.cpus:g}")
        cpu = replace(cpu, usable=usable, limited_by=f"cpus={stated.cpus:g} of the profile")
    if stated.ram_mib is not None:
        total = exact(stated.ram_mib, f"{source}: ram={stated.ram_mib / 1024:g} GiB")
        memory = replace(
            memory, total_mib=total, limited_by=f"ram={stated.ram_mib / 1024:g} GiB of the profile"
        )
    if stated.shm_mib is not None:
        memory = replace(memory, shm_mib=exact(stated.shm_mib, f"{source}: shm={stated.shm_mib:g} MiB"))
    if stated.storage is not None:
        storage = replace(storage, kind=exact(stated.storage, f"{source}: storage={stated.storage}"))
    gpus: tuple[Gpu, ...] = ()
    gpu_source = source
    if machine is not None:
        gpu_source = machine.source()
        if machine.gpu is not None:
            row, count = table.find_gpu(machine.gpu), machine.gpu_count
    if row is not None:
        boards = count
        if machine is not None and row.devices_per_board:
            boards = max(1, count // row.devices_per_board)  # providers count devices
        gpus = table.profile_gpus(
            row, boards, unified_ram_mib=memory.total_mib if memory.total_mib.known else None
        )
        if row.notes:
            notes.append(f"{row.id}: {row.notes}")
        if len(gpus) != count:
            gpu_source += f"; {count} boards with {row.devices_per_board} devices each"
    if machine is not None and machine.gpu_fraction is not None:
        gpus = tuple(_part_of_card(gpu, machine) for gpu in gpus)
    if machine is not None and machine.gpu is not None and not gpus:
        gpu_count: Value[int] = unknown(f"{gpu_source}: the card {machine.gpu!r} is not in the table")
    else:
        gpu_count = exact(len(gpus), gpu_source)
    return replace(
        hardware,
        gpus=gpus,
        gpu_count=gpu_count,
        cpu=cpu,
        memory=memory,
        storage=storage,
        host_ram_mib=host_ram,
        notes=tuple(notes),
    )


def _part_of_card(gpu: Gpu, machine: MachineRow) -> Gpu:
    """Return a virtual GPU that is a share of a card.

    The chip's features stay; its size and rates become unknown or the share's.
    """
    from cfgfix.core.records import replace
    from cfgfix.hardware.model import estimated, unknown

    reason = f"{machine.source()}: {machine.gpu_fraction:g} of a card"
    memory: Value[int] = unknown(f"{reason}, its memory is not known")
    if machine.gpu_memory_mib is not None:
        memory = estimated(machine.gpu_memory_mib, reason)
    return replace(
        gpu,
        memory_mib=memory,
        total_mib=memory,
        nominal_gib=unknown(reason),
        bandwidth_gbs=unknown(reason),
        fp16_tflops=unknown(reason),
        nvlink_gbs=unknown(reason),
    )


def machine_of_limits(
    label: str, cpus: float | None, ram_mib: float | None, card: str = "", gpus: int | None = None
) -> Hardware:
    """Return a machine of which only a job's limits are known.

    Args:
        label: The source of the limits, such as a job's file.
        cpus: The CPUs that the job may use, or None.
        ram_mib: Its memory in MiB, or None.
        card: The id of its card in the table; empty where none is named.
        gpus: How many cards it is given, or None.
    """
    from cfgfix.core.records import replace
    from cfgfix.hardware import table
    from cfgfix.hardware.model import exact

    hardware = blank(label, "profile", f"{label} does not say")
    if cpus is not None:
        cpu = replace(hardware.cpu, usable=exact(cpus, label), limited_by=f"the limit of {label}")
        hardware = replace(hardware, cpu=cpu)
    if ram_mib is not None:
        memory = replace(hardware.memory, total_mib=exact(ram_mib, label), limited_by=f"the limit of {label}")
        hardware = replace(hardware, memory=memory)
    row = table.find_gpu(card) if card else None
    if row is not None:
        hardware = replace(hardware, gpus=table.profile_gpus(row, gpus or 1))
    if gpus is not None:
        hardware = replace(hardware, gpu_count=exact(gpus, label))
    return hardware
