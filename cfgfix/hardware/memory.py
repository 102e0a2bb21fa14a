"""How much host memory this process may really use, and how large its shared memory is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from cfgfix.hardware.cgroups import Groups, groups
from cfgfix.hardware.model import Certainty, Memory, Value, exact, known_or_unknown, unknown
from cfgfix.hardware.system import Root, is_real, path_below, read_count, read_text, to_count

_MIB = 1 << 20
_SHM = "/dev/shm"  # noqa: S108 - its size is read, no file is made
_MACHINE = "the memory of the machine"
_NO_LIMIT = 1 << 60
"""cgroup v1 writes `no limit` as a number near 2**63; no machine has an exbibyte."""


class MemoryReading(NamedTuple):
    """The memory in force, that of the whole machine, and remarks for the user."""

    memory: Memory
    host_mib: Value[float]
    notes: tuple[str, ...]


class _MemoryLimit(NamedTuple):
    mib: float
    what: str


def read_memory(root: Root, environ: Mapping[str, str]) -> MemoryReading:
    """Return the memory limit in force for this process.

    It is the least of the machine's memory, all cgroups' limits and Slurm's share.

    Args:
        root: Where the file system of the machine starts.
        environ: The environment variables of this process.
    """
    host, free = _host_memory(root)
    control = groups(root, "memory")
    limits: list[_MemoryLimit] = []
    if host.value is not None:
        limits.append(_MemoryLimit(host.value, _MACHINE))
    capped, left = _cgroup_limits(root, control)
    limits += capped
    limits += _slurm_limits(environ)
    notes: list[str] = []
    total: Value[float] = unknown("neither the machine's memory nor a limit can be read here")
    limited_by = ""
    if limits:
        least = min(limits, key=lambda limit: limit.mib)
        certainty = Certainty.EXACT
        if host.value is None or not control.complete:
            certainty = Certainty.ESTIMATED
        if not control.complete:
            notes.append(
                "the cgroup of this process is not visible here: a memory limit that is not seen may exist"
            )
        source = host.source if least.what == _MACHINE else least.what
        total = Value(least.mib, source, certainty)
        limited_by = least.what
    spare = [value for value in (free.value, *left) if value is not None]
    available = known_or_unknown(
        min(spare) if spare else None,
        free.source
        if not left or min(spare) == free.value
        else "cgroup limit less what is used and cannot be dropped",
        free.source,
    )
    memory = Memory(
        total_mib=total, available_mib=available, limited_by=limited_by, shm_mib=_shared_memory(root)
    )
    return MemoryReading(memory, host, tuple(notes))


def _host_memory(root: Root) -> tuple[Value[float], Value[float]]:
    """Return the machine's memory, and the part of it that is available."""
    text = read_text(root, "/proc/meminfo")
    if text is None and is_real(root):
        return _host_of_psutil()
    found: dict[str, float] = {}
    for line in (text or "").splitlines():
        key, _, rest = line.partition(":")
        words = rest.split()
        count = to_count(words[0]) if words else None
        if count is not None and key in {"MemTotal", "MemAvailable"}:
            found[key] = count / 1024  # the file counts KiB
    missing = "/proc/meminfo cannot be read" if text is None else "/proc/meminfo does not tell"
    return (
        known_or_unknown(found.get("MemTotal"), "/proc/meminfo MemTotal", missing),
        known_or_unknown(found.get("MemAvailable"), "/proc/meminfo MemAvailable", missing),
    )


def _host_of_psutil() -> tuple[Value[float], Value[float]]:
    import psutil

    try:
        memory = psutil.virtual_memory()
    except (OSError, RuntimeError, psutil.Error) as error:
        reason = f"the system does not tell its memory: {error}"
        return unknown(reason), unknown(reason)
    return exact(memory.total / _MIB, "psutil"), exact(memory.available / _MIB, "psutil")


def _cgroup_limits(root: Root, control: Groups) -> tuple[list[_MemoryLimit], list[float]]:
    """Return the memory limits of the groups above this process, and what each leaves.

    `memory.low` and `memory.min` protect memory and limit nothing, so they are not read. Above `memory.high` the
    kernel slows the process down to a crawl, so it counts as a limit.
    """
    limits: list[_MemoryLimit] = []
    left: list[float] = []
    for group in control.found:
        version_2 = group.version == 2
        names = ("memory.max", "memory.high") if version_2 else ("memory.limit_in_bytes",)
        here: list[_MemoryLimit] = []
        for name in names:
            size = read_count(root, f"{group.path}/{name}")
            if size is not None and size < _NO_LIMIT:
                here.append(_MemoryLimit(size / _MIB, f"{group.path}/{name}"))
        if not here:
            continue
        limits += here
        used = read_count(root, f"{group.path}/{'memory.current' if version_2 else 'memory.usage_in_bytes'}")
        if used is not None:
            spare = (
                min(limit.mib for limit in here)
                - (used - _droppable_bytes(root, group.path, version_2=version_2)) / _MIB
            )
            left.append(max(0.0, spare))
    return limits, left


def _droppable_bytes(root: Root, path: str, *, version_2: bool) -> int:
    """Return the bytes of file cache that the kernel gives back under pressure."""
    wanted = "inactive_file" if version_2 else "total_inactive_file"
    for line in (read_text(root, f"{path}/memory.stat") or "").splitlines():
        key, _, value = line.partition(" ")
        if key == wanted:
            return to_count(value.strip()) or 0
    return 0


def _slurm_limits(environ: Mapping[str, str]) -> list[_MemoryLimit]:
    """Return Slurm's memory limits for the job on this node.

    Empty where Slurm sets none; 0 means all of the memory.
    """
    per_node = to_count(environ.get("SLURM_MEM_PER_NODE", "").strip())
    if per_node:
        return [_MemoryLimit(float(per_node), f"SLURM_MEM_PER_NODE={per_node}")]
    per_cpu = to_count(environ.get("SLURM_MEM_PER_CPU", "").strip())
    cpus = to_count(environ.get("SLURM_CPUS_ON_NODE", "").strip())
    if per_cpu and cpus:
        return [
            _MemoryLimit(float(per_cpu * cpus), f"SLURM_MEM_PER_CPU={per_cpu} x SLURM_CPUS_ON_NODE={cpus}")
        ]
    return []


def _shared_memory(root: Root) -> Value[float]:
    """Return the size of the shared memory.

    Container engines give 64 MiB unless told otherwise.
    """
    if not hasattr(os, "statvfs"):
        return unknown(f"this system has no {_SHM}")
    try:
        facts = os.statvfs(path_below(root, _SHM))
    except OSError:
        return unknown(f"{_SHM} cannot be read")
    return exact(facts.f_blocks * facts.f_frsize / _MIB, _SHM)
