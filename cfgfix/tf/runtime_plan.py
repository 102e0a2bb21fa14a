"""What a config asks of TensorFlow on a machine: threads, devices, memory, precision, each with its reason."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cfgfix.core.errors import CfgfixError
from cfgfix.rules.catalogue import named
from cfgfix.rules.faults import Fault
from cfgfix.tf.concepts import Concepts, Config, read_concepts, resolve_machine
from cfgfix.tf.variables import gpu_order, thread_limit

if TYPE_CHECKING:
    from cfgfix.hardware.model import Hardware


POLICIES = ("float32", "mixed_float16", "mixed_bfloat16", "float16", "bfloat16", "float64")
"""The dtype policies of Keras that a training run can ask for."""

_SEEDS = 2**32
"""NumPy takes seeds below this."""


class RuntimeInitializedError(CfgfixError):
    """TensorFlow's runtime was initialised before it was configured."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name, its value, and the reason for the value."""

    name: str
    value: object
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings that `configure` will make; None keeps TensorFlow's own choice.

    Attributes:
        intra_op_threads: Threads inside one operation.
        inter_op_threads: Threads that run independent operations.
        gpus: Positions in `tf.config.list_physical_devices("GPU")`, in the caller's order; None: all, untouched.
        limits_mib: Memory limits of each GPU in MiB, by position: one logical device for each limit.
        cpu_devices: How many logical CPU devices to make.
        memory_growth: Whether GPU memory is taken as needed.
        policy: Keras' dtype policy.
        jit_compile: Whether steps are compiled by XLA.
        cluster: Whether TensorFlow clusters operations for XLA by itself.
        graph_mode: Whether steps become graphs.
        op_determinism: Whether operations give the same bits in every run.
        seed: Seed of Python, NumPy and TensorFlow.
        roles: What each role's device is called after the runtime has started, such as `data` -> `GPU:0`.
        devices: The logical names of the chosen GPUs in the caller's order; the first one of each GPU.
        settings: All of it, with reasons.
        notes: What the user should know.
    """

    intra_op_threads: int | None = None
    inter_op_threads: int | None = None
    gpus: tuple[int, ...] | None = None
    limits_mib: Mapping[int, tuple[int, ...]] | None = None
    cpu_devices: int | None = None
    memory_growth: bool | None = None
    policy: str | None = None
    jit_compile: bool = False
    cluster: bool | None = None
    graph_mode: bool = True
    op_determinism: bool = False
    seed: int | None = None
    roles: Mapping[str, str] | None = None
    devices: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ()
    notes: tuple[str, ...] = ()


def plan(
    config: Config = None,
    hardware: Hardware | str | None = None,
    *,
    intra_op_threads: int | None = None,
    inter_op_threads: int | None = None,
    gpus: Sequence[int] | None = None,
    memory_limit_mib: int | Sequence[int] | None = None,
    memory_growth: bool | None = None,
    cpu_devices: int | None = None,
    mixed_precision: bool | str | None = None,
    xla: bool | None = None,
    xla_auto: bool | None = None,
    graph_mode: bool | None = None,
    op_determinism: bool | None = None,
    seed: int | None = None,
    physical_gpus: int | None = None,
    environ: Mapping[str, str] | None = None,
) -> Plan:
    """Return the settings that `configure` would make with the same arguments.

    TensorFlow is not imported.

    Args:
        config: Concepts or a YAML file.
        hardware: The machine; this one by default.
        intra_op_threads: See `configure`, as for all others.
        inter_op_threads: See there.
        gpus: See there.
        memory_limit_mib: See there.
        memory_growth: See there.
        cpu_devices: See there.
        mixed_precision: See there.
        xla: See there.
        xla_auto: See there.
        graph_mode: See there.
        op_determinism: See there.
        seed: See there.
        physical_gpus: How many GPUs TensorFlow has; by default what the machine says.
        environ: Environment variables; those of this process by default.

    Raises:
        CfgfixError: Settings exclude each other, or name what the machine does not have.

    >>> made = plan({"data_gpu": 1, "model_gpu": 0, "mixed_precision": True}, "rtx4090x2", environ={})
    >>> made.devices, made.policy
    (('GPU:1', 'GPU:0'), 'mixed_bfloat16')
    """
    concepts = read_concepts(config)
    machine = resolve_machine(hardware)
    settings: list[Setting] = []
    notes: list[str] = []
    threads = _thread_counts(concepts, machine, intra_op_threads, inter_op_threads, settings, notes)
    variables = os.environ if environ is None else environ
    count = (machine.gpu_count.value or 0) if physical_gpus is None else physical_gpus
    chosen, given = _gpu_positions(concepts, gpus, count, variables, settings)
    names, limits, roles, growth = _memory_limits(
        concepts, machine, chosen, given, count, memory_limit_mib, memory_growth, settings
    )
    if cpu_devices is not None:
        cpu_devices = Concepts({"cpu_devices": cpu_devices}).whole("cpu_devices", least=1)
        settings.append(Setting("logical CPU devices", cpu_devices, "argument"))
    policy = _policy_name(concepts, machine, mixed_precision, count, settings, notes)
    graph = concepts.flag("graph_mode", graph_mode)
    step_name = "xla" if xla is not None or concepts.raw("xla_step") is None else "xla_step"
    compiled = concepts.flag(step_name, xla)
    if compiled and graph is False:
        raise CfgfixError(
            f"{concepts.place(step_name, xla)} needs {concepts.place('graph_mode', graph_mode)}",
            hint="XLA compiles graphs; an eager step has none",
        )
    if compiled is not None:
        settings.append(Setting("XLA for steps", compiled, concepts.place(step_name, xla)))
    if graph is not None:
        settings.append(Setting("graph mode", graph, concepts.place("graph_mode", graph_mode)))
    cluster = concepts.flag("xla_auto", xla_auto) if not (compiled and xla_auto is None) else None
    if cluster is not None:
        settings.append(Setting("XLA clustering", cluster, concepts.place("xla_auto", xla_auto)))
        if cluster and not count and "--tf_xla_cpu_global_jit" not in variables.get("TF_XLA_FLAGS", ""):
            notes.append(
                "clustering does nothing on a CPU without TF_XLA_FLAGS=--tf_xla_cpu_global_jit: see cfgfix tf-env"
            )
    determinism = concepts.flag("op_determinism", op_determinism)
    number = concepts.whole("seed", seed)
    if number is not None and number >= _SEEDS:
        raise CfgfixError(
            f"{concepts.place('seed', seed)} must be below 2**32, for NumPy takes no larger one"
        )
    if determinism and number is None:
        raise CfgfixError(
            "deterministic operations need a seed: TensorFlow refuses random operations without one",
            hint="give seed",
        )
    if number is not None:
        settings.append(Setting("seed", number, concepts.place("seed", seed)))
    if determinism is not None:
        settings.append(
            Setting("op determinism", determinism, concepts.place("op_determinism", op_determinism))
        )
    return Plan(
        intra_op_threads=threads[0],
        inter_op_threads=threads[1],
        gpus=chosen,
        limits_mib=limits,
        cpu_devices=cpu_devices,
        memory_growth=growth,
        policy=policy,
        jit_compile=bool(compiled),
        cluster=cluster,
        graph_mode=graph is not False,
        op_determinism=bool(determinism),
        seed=number,
        roles=roles,
        devices=names,
        settings=tuple(settings),
        notes=tuple(notes),
    )


def _thread_counts(
    concepts: Concepts,
    machine: Hardware,
    intra: int | None,
    inter: int | None,
    settings: list[Setting],
    notes: list[str],
) -> tuple[int | None, int | None]:
    limit = thread_limit(machine)
    found: list[int | None] = []
    for name, argument, label in (
        ("intra_op_threads", intra, "intra-op threads"),
        ("inter_op_threads", inter, "inter-op threads"),
    ):
        wanted = concepts.whole(name, argument)
        if wanted is not None:
            reason = concepts.place(name, argument)
            workers = machine.cpu.workers()
            if name == "intra_op_threads" and workers is not None and wanted > workers:
                notes.append(
                    f"{wanted} intra-op threads on {workers} usable CPUs slow operations down ({named(Fault.THREADS_ABOVE_CPUS)}): "
                    "0 lets TensorFlow choose"
                )
        elif limit is not None:
            wanted, reason = limit
        else:
            found.append(None)
            continue
        settings.append(Setting(label, wanted, reason))
        found.append(wanted)
    return found[0], found[1]


def _gpu_positions(
    concepts: Concepts,
    gpus: Sequence[int] | None,
    count: int,
    environ: Mapping[str, str],
    settings: list[Setting],
) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
    """Return the chosen GPUs as positions in TensorFlow, and as the user's indexes.

    None for the positions where no GPUs are chosen.
    """
    order, place = gpu_order(concepts, gpus)
    if order is None:
        return None, ()
    shown = environ.get("CUDA_VISIBLE_DEVICES")
    if isinstance(order, str):
        if shown == order:
            settings.append(Setting("visible GPUs", order, "CUDA_VISIBLE_DEVICES is set so"))
            return None, ()
        raise CfgfixError(
            f"{place} names GPUs by id, which only CUDA_VISIBLE_DEVICES understands",
            hint="set it before the program starts: cfgfix tf-env",
        )
    listed = [part.strip() for part in shown.split(",")] if shown is not None and shown.strip() else None
    positions: list[int] = []
    for index in order:
        position = index
        if listed is not None and all(part.isdigit() for part in listed):
            if str(index) not in listed:
                raise CfgfixError(
                    f"{place} names GPU {index}, but CUDA_VISIBLE_DEVICES={shown} hides it from this process",
                    hint="indexes are those of the machine, as in CUDA_VISIBLE_DEVICES itself",
                )
            position = listed.index(str(index))
        if position >= count:
            raise CfgfixError(
                f"{place} names GPU {index}, but TensorFlow has {count}", hint="indexes start at 0"
            )
        positions.append(position)
    settings.append(Setting("visible GPUs", tuple(order), place))
    return tuple(positions), tuple(order)


def _memory_limits(
    concepts: Concepts,
    machine: Hardware,
    chosen: tuple[int, ...] | None,
    given: tuple[int, ...],
    count: int,
    argument: int | Sequence[int] | None,
    growth: bool | None,
    settings: list[Setting],
) -> tuple[tuple[str, ...], dict[int, tuple[int, ...]] | None, dict[str, str] | None, bool | None]:
    positions = chosen if chosen is not None else tuple(range(count))
    limits: dict[int, list[int]] = {}
    splits: dict[str, tuple[int, int]] = {}
    reasons: list[str] = []
    if argument is not None:
        each = [argument] * len(positions) if isinstance(argument, int) else list(argument)
        if len(each) != len(positions):
            raise CfgfixError(f"{len(each)} memory limits for {len(positions)} GPUs")
        for position, limit in zip(positions, each, strict=True):
            limits[position] = [Concepts({"memory_limit_mib": limit}).whole("memory_limit_mib", least=1) or 0]
        reasons.append("argument")
    roles: dict[str, int] = {}
    for role in ("data", "model"):
        index = concepts.whole(f"{role}_gpu")
        if index is None or index not in given:
            continue
        roles[role] = positions[given.index(index)]
    if argument is None:
        common = concepts.whole("gpu_memory_mb", least=1)
        share = concepts.number("gpu_memory_fraction")
        if share is not None and share > 1:
            raise concepts.wrong("gpu_memory_fraction", "a share above 0 and up to 1")
        for role, position in roles.items():
            size = concepts.whole(f"{role}_gpu_memory_mb", least=1)
            if size is not None:
                limits.setdefault(position, []).append(size)
                splits[role] = (position, len(limits[position]) - 1)
                reasons.append(concepts.place(f"{role}_gpu_memory_mb"))
        for position in positions:
            if position in limits:
                continue
            if common is not None:
                limits[position] = [common]
                reasons.append(concepts.place("gpu_memory_mb"))
            elif share is not None and share < 1:
                card = machine.gpus[position] if position < len(machine.gpus) else None
                total = card.total_mib.value if card is not None else None
                if total is None:
                    raise CfgfixError(
                        f"{concepts.place('gpu_memory_fraction')} needs the memory of GPU {position}, which is not known",
                        hint="give the limit in MiB",
                    )
                limits[position] = [int(total * share)]
                reasons.append(concepts.place("gpu_memory_fraction"))
    wanted_growth = concepts.flag("memory_growth", growth)
    if wanted_growth and limits:
        raise CfgfixError(
            "memory growth and a memory limit exclude each other: TensorFlow ignores the one or refuses the other"
            f" ({named(Fault.LIMIT_NOT_IN_FORCE)})",
            hint="keep the limit to share a card between programs, growth to share it by need",
        )
    for position, sizes in limits.items():
        usable = machine.lookup(f"gpus[{position}].usable_mib")
        if usable is not None and isinstance(usable.value, (int, float)) and sum(sizes) > usable.value:
            raise CfgfixError(
                f"GPU {position} would be limited to {sum(sizes)} MiB, but {usable.value:.0f} MiB can be used"
                f" ({usable.source})",
                hint=named(Fault.LIMIT_ABOVE_CARD),
            )
        settings.append(
            Setting(f"memory limit of GPU {position} in MiB", tuple(sizes), ", ".join(dict.fromkeys(reasons)))
        )
    if wanted_growth is not None and count:
        settings.append(Setting("memory growth", wanted_growth, concepts.place("memory_growth", growth)))
    first: dict[int, int] = {}
    number = 0
    for position in sorted(positions):
        first[position] = number
        number += len(limits.get(position, (0,)))
    names = tuple(f"GPU:{first[position]}" for position in positions) if chosen is not None else ()
    called = {
        role: f"GPU:{first[position] + splits.get(role, (position, 0))[1]}"
        for role, position in roles.items()
    }
    for role, name in called.items():
        settings.append(Setting(f"device for {role}", name, concepts.place(f"{role}_gpu")))
    return (
        names,
        {position: tuple(sizes) for position, sizes in limits.items()} or None,
        called or None,
        wanted_growth if count else None,
    )


def _policy_name(
    concepts: Concepts,
    machine: Hardware,
    argument: bool | str | None,
    count: int,
    settings: list[Setting],
    notes: list[str],
) -> str | None:
    wanted = concepts.raw("mixed_precision") if argument is None else argument
    if wanted is None:
        return None
    place = concepts.place("mixed_precision", argument)
    if isinstance(wanted, str):
        if wanted not in POLICIES:
            raise CfgfixError(f"{place}: {wanted!r} is no dtype policy", hint=f"known: {', '.join(POLICIES)}")
        settings.append(Setting("dtype policy", wanted, place))
        slow = _too_old(machine, wanted, count)
        if slow:
            notes.append(slow)
        return wanted
    if not isinstance(wanted, bool):
        raise concepts.wrong("mixed_precision", "true, false or the name of a policy")
    policy, reason = ("float32", place) if not wanted else _best_policy(machine, count)
    settings.append(Setting("dtype policy", policy, reason if not wanted else f"{place}: {reason}"))
    if wanted and policy == "float32":
        notes.append(f"mixed precision is off: {reason}")
    return policy


def _best_policy(machine: Hardware, count: int) -> tuple[str, str]:
    """Return the dtype policy for a machine, with the reason.

    bfloat16 needs no loss scaling, float16 does, and neither helps without units for it.
    """
    if not count:
        if machine.cpu.amx_bf16.value:
            return "mixed_bfloat16", "the CPU has AMX units for bfloat16"
        return (
            "float32",
            f"without a GPU or AMX units mixed precision is slower ({named(Fault.HALF_WITHOUT_GPU)})",
        )
    if machine.lookup("gpu.bf16") is not None and getattr(machine.lookup("gpu.bf16"), "value", None) is True:
        return "mixed_bfloat16", "every GPU computes in bfloat16, which needs no loss scaling"
    cores = machine.lookup("gpu.tensor_cores")
    if cores is not None and cores.value is True:
        return (
            "mixed_float16",
            f"every GPU has tensor cores for float16; a custom loop must scale its loss ({named(Fault.LOSS_UNSCALED)})",
        )
    if cores is None or cores.value is None:
        return "float32", "it is not known whether the GPUs have tensor cores"
    return "float32", f"not every GPU has tensor cores ({named(Fault.HALF_WITHOUT_UNITS)})"


def _too_old(machine: Hardware, policy: str, count: int) -> str | None:
    if policy in ("float32", "float64"):
        return None
    if not count:
        return (
            None
            if machine.cpu.amx_bf16.value and "bfloat16" in policy
            else f"{policy} without a GPU is slower ({named(Fault.HALF_WITHOUT_GPU)})"
        )
    field, fault = (
        ("gpu.bf16", Fault.BFLOAT16_WITHOUT_UNITS)
        if "bfloat16" in policy
        else ("gpu.tensor_cores", Fault.HALF_WITHOUT_UNITS)
    )
    value = machine.lookup(field)
    if value is not None and value.value is False:
        return f"{policy}: not every GPU has units for it ({named(fault)})"
    return None
