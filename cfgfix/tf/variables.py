"""The environment variables that must be set before a training program starts. TensorFlow is not imported here."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cfgfix.core.errors import CfgfixError
from cfgfix.tf.concepts import Concepts, Config, read_concepts, resolve_machine

if TYPE_CHECKING:
    from cfgfix.hardware.model import Hardware

FORMATS = ("sh", "env", "json")


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable, and why it is set."""

    name: str
    value: str
    why: str


def thread_limit(machine: Hardware) -> tuple[int, str] | None:
    """Return the number of threads for TensorFlow's pools, with the reason.

    TensorFlow counts processors by affinity and does not see a cgroup's quota or a scheduler's share. Where neither
    is below the affinity, its own choice is right and None is returned.
    """
    usable = machine.cpu.usable.value
    workers = machine.cpu.workers()
    if usable is None or workers is None:
        return None
    if (
        machine.has_quota.value
        or "SLURM" in machine.cpu.limited_by
        or _uses_scheduler(machine.cpu.limited_by)
    ):
        return workers, f"{usable:g} CPUs usable ({machine.cpu.limited_by}), which TensorFlow does not see"
    return None


def _uses_scheduler(limit: str) -> bool:
    from cfgfix.hardware.cpu import SCHEDULER_VARIABLES

    return limit.startswith(SCHEDULER_VARIABLES)


def gpu_order(concepts: Concepts, gpus: Sequence[int] | None = None) -> tuple[list[int] | str | None, str]:
    """Return the chosen GPUs in the caller's order, and which setting chooses them.

    The answer is a list of indexes, the text of CUDA_VISIBLE_DEVICES where it holds names, or None for all of them.

    Raises:
        CfgfixError: An index is no index, or a GPU is named twice in the list.
    """
    if gpus is not None:
        chosen = [Concepts({"gpu": item}).whole("gpu") for item in gpus]
        return _distinct_indexes([item for item in chosen if item is not None], "gpus"), "gpus"
    data, model = concepts.whole("data_gpu"), concepts.whole("model_gpu")
    if data is not None or model is not None:
        places = [
            concepts.place(name) for name in ("data_gpu", "model_gpu") if concepts.raw(name) is not None
        ]
        order = [item for item in (data, model) if item is not None]
        return list(dict.fromkeys(order)), " and ".join(places)
    raw = concepts.raw("visible_devices")
    if raw is None:
        return None, ""
    place = concepts.place("visible_devices")
    if isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0:
        return [raw], place
    if isinstance(raw, (list, tuple)) and all(
        isinstance(item, int) and not isinstance(item, bool) for item in raw
    ):
        return _distinct_indexes(list(raw), place), place
    if isinstance(raw, str):
        parts = [part.strip() for part in raw.split(",")] if raw.strip() else []
        if all(part.isascii() and part.isdigit() for part in parts):
            return _distinct_indexes([int(part) for part in parts], place), place
        return raw, place
    raise concepts.wrong("visible_devices", "a list of GPU indexes")


def _distinct_indexes(indexes: list[int], place: str) -> list[int]:
    if len(set(indexes)) != len(indexes):
        raise CfgfixError(f"{place} names a GPU twice")
    if any(index < 0 for index in indexes):
        raise CfgfixError(f"{place} has an index below 0")
    return indexes


def environment(config: Config = None, hardware: Hardware | str | None = None) -> tuple[Variable, ...]:
    """Return the variables that must be set before the program starts.

    Everything that can be set from inside the program is left to `configure`; what TensorFlow would do by itself is
    not repeated. TF_GPU_THREAD_MODE is never among them: TensorFlow's guide gives it for traces that show contention
    among the threads that launch kernels, and two of its pages disagree about the count.

    Args:
        config: Concepts or a YAML file, see `cfgfix.tf.concepts.read_concepts`.
        hardware: The machine; this one by default.

    Raises:
        CfgfixError: A setting cannot be used.

    >>> [variable.value for variable in environment({"data_gpu": 1, "model_gpu": 0}, "rtx4090x2")][:2]
    ['PCI_BUS_ID', '1,0']
    """
    concepts = read_concepts(config)
    machine = resolve_machine(hardware)
    found: list[Variable] = []
    order, place = gpu_order(concepts)
    if order is not None:
        text = order if isinstance(order, str) else ",".join(map(str, order))
        if isinstance(order, list) and machine.gpu_count.value is not None:
            for index in order:
                if index >= machine.gpu_count.value:
                    raise CfgfixError(f"{place} names GPU {index}, but there are {machine.gpu_count.value}")
        found.append(
            Variable("CUDA_DEVICE_ORDER", "PCI_BUS_ID", "so that indexes mean what nvidia-smi shows")
        )
        found.append(
            Variable(
                "CUDA_VISIBLE_DEVICES", text, f"{place}: only so does GPU:0 become the first that is named"
            )
        )
    limit = thread_limit(machine)
    for name, variable in (
        ("intra_op_threads", "TF_NUM_INTRAOP_THREADS"),
        ("inter_op_threads", "TF_NUM_INTEROP_THREADS"),
    ):
        wanted = concepts.whole(name)
        if wanted:
            found.append(Variable(variable, str(wanted), concepts.place(name)))
        elif wanted is None and limit is not None:
            found.append(Variable(variable, str(limit[0]), limit[1]))
    growth = concepts.flag("memory_growth")
    limits = ("gpu_memory_mb", "data_gpu_memory_mb", "model_gpu_memory_mb", "gpu_memory_fraction")
    limited = any(concepts.raw(name) is not None for name in limits)
    if growth and limited:
        raise CfgfixError(
            f"{concepts.place('memory_growth')} and a memory limit exclude each other on one GPU",
            hint="keep the one that is meant",
        )
    if growth and (machine.gpu_count.value or 0) > 0:
        found.append(Variable("TF_FORCE_GPU_ALLOW_GROWTH", "true", concepts.place("memory_growth")))
    if concepts.flag("xla_auto"):
        flags = "--tf_xla_auto_jit=2"
        why = concepts.place("xla_auto")
        if not (machine.gpu_count.value or 0):
            flags += " --tf_xla_cpu_global_jit"
            why += "; on a machine without a GPU clustering needs the second flag"
        found.append(Variable("TF_XLA_FLAGS", flags, why))
    seed = concepts.whole("seed")
    if seed is not None and seed < 2**32:
        found.append(
            Variable("PYTHONHASHSEED", str(seed), f"{concepts.place('seed')}: the order of Python's sets")
        )
    return tuple(found)


def why_none(config: Config = None, hardware: Hardware | str | None = None) -> tuple[str, ...]:
    """Return lines on why no variable needs to be set for a config and a machine."""
    concepts = read_concepts(config)
    machine = resolve_machine(hardware)
    usable, gpus = machine.cpu.usable.value, machine.gpu_count.value
    cpus = f"{usable:g} CPUs" if usable is not None else "the CPUs"
    found = [
        f"threads: TensorFlow counts {cpus} of this machine rightly ({machine.cpu.limited_by})",
        f"GPUs: {gpus or 'none'}, in the order that CUDA gives them"
        if gpus
        else "GPUs: there is none here whose order or memory a variable could set",
    ]
    names = (
        "data_gpu",
        "model_gpu",
        "visible_devices",
        "intra_op_threads",
        "inter_op_threads",
        "memory_growth",
        "xla_auto",
        "seed",
    )
    given = [concepts.place(name) for name in names if concepts.raw(name) is not None]
    if config is None:
        found.append("config: none was named, so no key asks for one")
    elif given:
        found.append(
            f"config: {', '.join(given)} can be set from inside the program: cfgfix.tf.configure does it"
        )
    else:
        found.append("config: no key for devices, threads, memory growth, XLA clustering or a seed")
    return tuple(found)


def render(variables: Sequence[Variable], style: str) -> str:
    """Return variables as text in a style.

    The style is `sh` (export lines for a shell), `env` (NAME=value lines) or `json`.

    Raises:
        CfgfixError: There is no such style, or a value cannot be written in it.
    """
    if style == "json":
        rows = [{"name": item.name, "value": item.value, "why": item.why} for item in variables]
        return json.dumps({"version": 1, "variables": rows}, indent=2, ensure_ascii=False) + "\n"
    if style not in FORMATS:
        raise CfgfixError(f"there is no format {style!r}", hint=f"known: {', '.join(FORMATS)}")
    lines: list[str] = []
    for item in variables:
        if any(character in item.value for character in "\n\r\0"):
            raise CfgfixError(f"{item.name} would hold a line break")
        lines.append("# " + " ".join(item.why.split()))
        lines.append(
            f"export {item.name}={shlex.quote(item.value)}" if style == "sh" else f"{item.name}={item.value}"
        )
    return "".join(line + "\n" for line in lines)
