"""How many processors this process may really use: the least of affinity, cgroup quota and scheduler's share."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from cfgfix.hardware.cgroups import Groups, groups
from cfgfix.hardware.model import Certainty, Cpu, Value, estimated, exact, unknown
from cfgfix.hardware.system import Root, count_list, is_real, read_text, read_word, to_count

SCHEDULER_VARIABLES = (
    "SLURM_CPUS_PER_TASK",
    "SLURM_CPUS_ON_NODE",
    "PBS_NUM_PPN",
    "NSLOTS",
    "LSB_DJOB_NUMPROC",
)
"""What batch systems set for a job: Slurm (two), PBS, Grid Engine, LSF."""


class CpuReading(NamedTuple):
    """The processors of a process, whether a cgroup limits their time, and remarks."""

    cpu: Cpu
    has_quota: Value[bool]
    notes: tuple[str, ...]


class _CpuLimit(NamedTuple):
    processors: float
    what: str


def read_cpu(root: Root, environ: Mapping[str, str]) -> CpuReading:
    """Return the processors of the machine and this process's share of them.

    Args:
        root: Where the file system of the machine starts.
        environ: The environment variables of this process.
    """
    logical = _logical_count(root)
    limits: list[_CpuLimit] = []
    sources: list[str] = []
    affinity = _affinity_count(root)
    if affinity is not None:
        limits.append(_CpuLimit(float(affinity), "the CPU affinity of this process"))
        sources.append("affinity")
    elif logical.value is not None:
        limits.append(_CpuLimit(float(logical.value), "the processors of the machine"))
        sources.append("processors of the machine")
    control = groups(root, "cpu")
    quotas = _cpu_quotas(root, control)
    limits += quotas
    if control.found:
        sources.append("cgroup quota")
    for name in SCHEDULER_VARIABLES:
        count = to_count(environ.get(name, "").strip())
        if count:
            limits.append(_CpuLimit(float(count), f"{name}={count}"))
            sources.append(name)
    notes: list[str] = []
    if not limits:
        usable: Value[float] = unknown("neither affinity nor a processor count can be read here")
        limited_by = ""
    else:
        least = min(limits, key=lambda limit: limit.processors)
        certainty = Certainty.EXACT
        if not control.complete:
            certainty = Certainty.ESTIMATED
            notes.append(
                "the cgroup of this process is not visible here: a CPU quota that is not seen may exist"
            )
        if not quotas and environ.get("KUBERNETES_SERVICE_HOST"):
            certainty = Certainty.ESTIMATED
            notes.append(
                "this is a Kubernetes pod without a CPU limit: requests.cpu sets a weight only, so the share this pod "
                "gets on a busy node cannot be known; set limits.cpu, or name the machine with cpus="
            )
        usable = Value(least.processors, f"least of {', '.join(sources)}: {least.what}", certainty)
        limited_by = least.what
    cpu = Cpu(logical=logical, usable=usable, limited_by=limited_by, amx_bf16=_amx_bf16(root))
    return CpuReading(cpu, _has_quota(control, quotas), tuple(notes))


def _has_quota(control: Groups, quotas: list[_CpuLimit]) -> Value[bool]:
    if quotas:
        return exact(True, quotas[0].what)
    if control.complete:
        where = (
            f"no CPU quota in {control.found[0].path} and above"
            if control.found
            else "this system has no cgroups"
        )
        return exact(False, where)
    if control.found:
        return estimated(False, "no CPU quota in the visible cgroups")
    return unknown("no cgroup can be read here")


def _cpu_quotas(root: Root, control: Groups) -> list[_CpuLimit]:
    """Return the CPU quotas of the groups that limit this process, tightest first."""
    found: list[_CpuLimit] = []
    for group in control.found:
        if group.version == 2:
            path = f"{group.path}/cpu.max"
            words = (read_word(root, path) or "").split()
            quota = to_count(words[0]) if words else None
            period = (
                to_count(words[1]) if len(words) > 1 else 100_000
            )  # the kernel's default period in microseconds
        else:
            path = f"{group.path}/cpu.cfs_quota_us"
            quota = to_count(read_word(root, path))
            period = to_count(read_word(root, f"{group.path}/cpu.cfs_period_us"))
        if quota and period:
            processors = quota / period
            found.append(_CpuLimit(processors, path))
    return sorted(found, key=lambda limit: limit.processors)


def _affinity_count(root: Root) -> int | None:
    """Return the number of processors this process may run on; None where unknown.

    Cpusets are part of it.
    """
    if is_real(root):
        if hasattr(os, "sched_getaffinity"):
            try:
                return len(os.sched_getaffinity(0))
            except OSError:
                return None
        return _affinity_of_psutil()
    allowed = None
    for line in (read_text(root, "/proc/self/status") or "").splitlines():
        if line.startswith("Cpus_allowed_list:"):
            allowed = count_list(line.partition(":")[2])
    if allowed is None:
        return None
    online = count_list(read_text(root, "/sys/devices/system/cpu/online"))
    return len(allowed & online) if online is not None else len(allowed)


def _affinity_of_psutil() -> int | None:
    """Return the affinity on Windows; None on macOS, which has none."""
    import psutil

    try:
        return len(psutil.Process().cpu_affinity() or ()) or None
    except (AttributeError, OSError, psutil.Error):
        return None


def _logical_count(root: Root) -> Value[int]:
    if is_real(root):
        count = os.cpu_count()
        return (
            unknown("the system does not tell its processors")
            if count is None
            else exact(count, "os.cpu_count()")
        )
    text = read_text(root, "/proc/cpuinfo")
    if text is None:
        return unknown("/proc/cpuinfo cannot be read")
    count = sum(1 for line in text.splitlines() if line.partition(":")[0].strip() == "processor")
    return exact(count, "/proc/cpuinfo") if count else unknown("/proc/cpuinfo lists no processors")


def _amx_bf16(root: Root) -> Value[bool]:
    """Return whether the first processor has AMX units for bfloat16.

    False on a CPU of another family than x86.
    """
    text = read_text(root, "/proc/cpuinfo")
    if text is None:
        return unknown("/proc/cpuinfo cannot be read")
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "flags":
            return exact("amx_bf16" in value.split(), "/proc/cpuinfo flags")
        if key.strip() in {"Features", "isa"}:
            return exact(False, "/proc/cpuinfo: not an x86 CPU")
    return unknown("/proc/cpuinfo names no flags")
