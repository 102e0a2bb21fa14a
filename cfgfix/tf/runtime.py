"""Configure TensorFlow for a machine, and read back what is in force.

`plan` decides without touching TensorFlow; `configure` applies a plan; `verify` asks TensorFlow what it has, so that a
setting that did not arrive is seen.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from cfgfix.core.errors import CfgfixError
from cfgfix.rules.catalogue import named
from cfgfix.rules.faults import Fault
from cfgfix.tf.concepts import Concepts, Config, read_concepts, resolve_machine
from cfgfix.tf.variables import gpu_order, thread_limit

if TYPE_CHECKING:
    from cfgfix.hardware.model import Hardware

F = TypeVar("F", bound=Callable[..., Any])

POLICIES = ("float32", "mixed_float16", "mixed_bfloat16", "float16", "bfloat16", "float64")
"""The dtype policies of Keras that a training run can ask for."""

_SEEDS = 2**32
"""NumPy takes seeds below this."""


class RuntimeInitializedError(CfgfixError):
    """TensorFlow's runtime was initialised before it was configured."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that is set: its name, its value, and what decided it."""

    name: str
    value: object
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What `configure` will do; None where TensorFlow's own choice stays.

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


@dataclass(frozen=True, slots=True)
class Applied:
    """What `configure` has set."""

    plan: Plan

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Everything that was set, with its reason."""
        return self.plan.settings

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know."""
        return self.plan.notes

    @property
    def policy(self) -> str | None:
        """The dtype policy, or None where it was left alone."""
        return self.plan.policy

    @property
    def devices(self) -> tuple[str, ...]:
        """The chosen GPUs as TensorFlow calls them now, in the caller's order.

        TensorFlow numbers them by physical order.
        """
        return self.plan.devices

    def device(self, role: str) -> str:
        """Return the logical name of the device that has a role, such as `GPU:1`.

        Raises:
            CfgfixError: No device was given this role.
        """
        roles = self.plan.roles or {}
        if role not in roles:
            known = ", ".join(sorted(roles)) or "none"
            raise CfgfixError(f"no device has the role {role!r}", hint=f"roles that were given: {known}")
        return roles[role]

    @property
    def compile_options(self) -> dict[str, Any]:
        """The settings of graph mode and XLA as `model.compile` takes them.

        Without these Keras decides by itself.
        """
        return {"jit_compile": self.plan.jit_compile, "run_eagerly": not self.plan.graph_mode}

    def function(self, step: F) -> F:
        """Return a step as the settings of graph mode and XLA want it.

        Without XLA, retracing is kept low: dimensions that change become unknown. Under XLA every new shape compiles
        again whatever the signature says, so there shapes must be fixed by the input pipeline.

        Args:
            step: A function of tensors.
        """
        if not self.plan.graph_mode:
            return step
        import tensorflow as tf

        made: F = tf.function(
            step,
            jit_compile=True if self.plan.jit_compile else None,
            reduce_retracing=not self.plan.jit_compile,
        )
        return made

    def __str__(self) -> str:
        width = max((len(item.name) for item in self.settings), default=0)
        lines = [f"{item.name.ljust(width)}  {item.value}  ({item.reason})" for item in self.settings]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines) if lines else "nothing was set"


@dataclass(frozen=True, slots=True)
class Check:
    """One setting as it was wanted and as TensorFlow has it."""

    name: str
    wanted: object
    found: object
    ok: bool
    source: str
    """What was asked."""


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
    """Return what `configure` would do with the same arguments.

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
    threads = _threads(concepts, machine, intra_op_threads, inter_op_threads, settings, notes)
    variables = os.environ if environ is None else environ
    count = (machine.gpu_count.value or 0) if physical_gpus is None else physical_gpus
    chosen, given = _positions(concepts, gpus, count, variables, settings)
    names, limits, roles, growth = _memory(
        concepts, machine, chosen, given, count, memory_limit_mib, memory_growth, settings
    )
    if cpu_devices is not None:
        cpu_devices = Concepts({"cpu_devices": cpu_devices}).whole("cpu_devices", least=1)
        settings.append(Setting("logical CPU devices", cpu_devices, "argument"))
    policy = _policy(concepts, machine, mixed_precision, count, settings, notes)
    graph = concepts.flag("graph_mode", graph_mode)
    step_name = "xla" if xla is not None or concepts.raw("xla_step") is None else "xla_step"
    compiled = concepts.flag(step_name, xla)
    if compiled and graph is False:
        raise CfgfixError(
            f"{_place(concepts, step_name, xla)} needs {_place(concepts, 'graph_mode', graph_mode)}",
            hint="XLA compiles graphs; an eager step has none",
        )
    if compiled is not None:
        settings.append(Setting("XLA for steps", compiled, _place(concepts, step_name, xla)))
    if graph is not None:
        settings.append(Setting("graph mode", graph, _place(concepts, "graph_mode", graph_mode)))
    cluster = concepts.flag("xla_auto", xla_auto) if not (compiled and xla_auto is None) else None
    if cluster is not None:
        settings.append(Setting("XLA clustering", cluster, _place(concepts, "xla_auto", xla_auto)))
        if cluster and not count and "--tf_xla_cpu_global_jit" not in variables.get("TF_XLA_FLAGS", ""):
            notes.append(
                "clustering does nothing on a CPU without TF_XLA_FLAGS=--tf_xla_cpu_global_jit: see cfgfix tf-env"
            )
    determinism = concepts.flag("op_determinism", op_determinism)
    number = concepts.whole("seed", seed)
    if number is not None and number >= _SEEDS:
        raise CfgfixError(
            f"{_place(concepts, 'seed', seed)} must be below 2**32, for NumPy takes no larger one"
        )
    if determinism and number is None:
        raise CfgfixError(
            "deterministic operations need a seed: TensorFlow refuses random operations without one",
            hint="give seed",
        )
    if number is not None:
        settings.append(Setting("seed", number, _place(concepts, "seed", seed)))
    if determinism is not None:
        settings.append(
            Setting("op determinism", determinism, _place(concepts, "op_determinism", op_determinism))
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


def _place(concepts: Concepts, name: str, argument: object) -> str:
    return "argument" if argument is not None else concepts.place(name)


def _threads(
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
            reason = _place(concepts, name, argument)
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


def _positions(
    concepts: Concepts,
    gpus: Sequence[int] | None,
    count: int,
    environ: Mapping[str, str],
    settings: list[Setting],
) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
    """Positions among TensorFlow's GPUs, and the indexes as the user gave them."""
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


def _memory(
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
        settings.append(Setting("memory growth", wanted_growth, _place(concepts, "memory_growth", growth)))
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


def _policy(
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
    place = _place(concepts, "mixed_precision", argument)
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
    """What is worth it: bfloat16 needs no loss scaling, float16 does, and neither helps without units for it."""
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


_last: Applied | None = None


def initialized() -> bool:
    """Return whether TensorFlow's runtime has started.

    After that threads and devices are fixed. TensorFlow has no question for it: the setter of the thread count refuses a
    new value exactly then.
    """
    import tensorflow as tf

    now = tf.config.threading.get_intra_op_parallelism_threads()
    try:
        tf.config.threading.set_intra_op_parallelism_threads(now + 1)
    except RuntimeError:
        return True
    tf.config.threading.set_intra_op_parallelism_threads(now)
    return False


def configure(
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
) -> Applied:
    """Configure TensorFlow for a config and a machine.

    Call it first thing in the program, before any tensor, variable, layer or strategy.

    Args:
        config: Concepts or a YAML file, see `cfgfix.tf.concepts.read_concepts`.
        hardware: The machine; this one by default.
        intra_op_threads: Threads inside one operation. By default the usable CPUs where a quota or a scheduler's share
            hides them from TensorFlow, else TensorFlow's own choice.
        inter_op_threads: Threads that run independent operations; by default as above.
        gpus: The GPUs to use, in the order that is meant, by their index on the machine. TensorFlow numbers devices by
            physical order whatever the order given to it; `Applied.devices` has the names that fit.
        memory_limit_mib: A limit for each GPU, in MiB.
        memory_growth: Take GPU memory as needed; not together with a limit.
        cpu_devices: How many logical CPU devices to make.
        mixed_precision: True chooses the policy by what every GPU can do; or the name of a policy.
        xla: Compile steps with XLA: `Applied.function` does it, and `Applied.compile_options` is for
            `model.compile`.
        xla_auto: Let TensorFlow cluster operations for XLA.
        graph_mode: Whether `Applied.function` makes graphs.
        op_determinism: Give the same bits in every run; needs a seed, and cannot be taken back in this process.
        seed: Seed of Python, NumPy and TensorFlow.

    Raises:
        RuntimeInitializedError: The runtime has started, and something is wanted that can only be set before.
        CfgfixError: Settings exclude each other or do not fit the machine.
    """
    global _last  # noqa: PLW0603 - what is in force is a fact of the process
    import tensorflow as tf

    made = plan(
        config,
        hardware,
        intra_op_threads=intra_op_threads,
        inter_op_threads=inter_op_threads,
        gpus=gpus,
        memory_limit_mib=memory_limit_mib,
        memory_growth=memory_growth,
        cpu_devices=cpu_devices,
        mixed_precision=mixed_precision,
        xla=xla,
        xla_auto=xla_auto,
        graph_mode=graph_mode,
        op_determinism=op_determinism,
        seed=seed,
        physical_gpus=len(tf.config.list_physical_devices("GPU")),
    )
    apply(made, tf, started=initialized())
    _last = Applied(made)
    return _last


def apply(made: Plan, tf: Any, *, started: bool) -> None:
    """Apply a plan.

    Args:
        made: What to set.
        tf: The module `tensorflow`.
        started: Whether the runtime has started.

    Raises:
        RuntimeInitializedError: Something differs that can only be set before the start.
    """
    if started:
        late = [check.name for check in _start_checks(made, tf) if not check.ok]
        if late:
            raise RuntimeInitializedError(
                f"TensorFlow's runtime has already started, so {', '.join(late)} can no longer be set",
                hint="call configure before the first tensor, variable, layer, strategy or list_logical_devices",
            )
    else:
        if made.intra_op_threads is not None:
            tf.config.threading.set_intra_op_parallelism_threads(made.intra_op_threads)
        if made.inter_op_threads is not None:
            tf.config.threading.set_inter_op_parallelism_threads(made.inter_op_threads)
        cards = tf.config.list_physical_devices("GPU")
        if made.gpus is not None:
            tf.config.set_visible_devices([cards[index] for index in sorted(made.gpus)], "GPU")
            cards = [cards[index] for index in sorted(made.gpus)]
        if made.memory_growth is not None:
            for card in cards:
                tf.config.experimental.set_memory_growth(card, made.memory_growth)
        every = tf.config.list_physical_devices("GPU")
        for index, sizes in (made.limits_mib or {}).items():
            parts = [tf.config.LogicalDeviceConfiguration(memory_limit=size) for size in sizes]
            tf.config.set_logical_device_configuration(every[index], parts)
        if made.cpu_devices is not None:
            (cpu, *_) = tf.config.list_physical_devices("CPU")
            tf.config.set_logical_device_configuration(
                cpu, [tf.config.LogicalDeviceConfiguration() for _ in range(made.cpu_devices)]
            )
    if made.cluster is not None:
        # Any other text than this one turns clustering off without a word.
        tf.config.optimizer.set_jit("autoclustering" if made.cluster else False)
    if made.policy is not None:
        tf.keras.mixed_precision.set_global_policy(made.policy)
    if made.seed is not None:
        tf.keras.utils.set_random_seed(made.seed)
    if made.op_determinism:
        tf.config.experimental.enable_op_determinism()


def _start_checks(made: Plan, tf: Any) -> list[Check]:
    """What is fixed at the start of the runtime, as TensorFlow has it."""
    checks: list[Check] = []

    def add(name: str, wanted: object, found: object, source: str) -> None:
        checks.append(Check(name, wanted, found, wanted == found, source))

    threading = tf.config.threading
    if made.intra_op_threads is not None:
        found = threading.get_intra_op_parallelism_threads()
        add(
            "intra-op threads",
            made.intra_op_threads,
            found,
            "tf.config.threading.get_intra_op_parallelism_threads",
        )
    if made.inter_op_threads is not None:
        found = threading.get_inter_op_parallelism_threads()
        add(
            "inter-op threads",
            made.inter_op_threads,
            found,
            "tf.config.threading.get_inter_op_parallelism_threads",
        )
    cards = tf.config.list_physical_devices("GPU")
    if made.gpus is not None:
        wanted = tuple(cards[index].name for index in sorted(made.gpus) if index < len(cards))
        found = tuple(device.name for device in tf.config.get_visible_devices("GPU"))
        add("visible GPUs", wanted, found, "tf.config.get_visible_devices")
    if made.memory_growth is not None:
        for card in tf.config.get_visible_devices("GPU"):
            found = tf.config.experimental.get_memory_growth(card)
            add(
                f"memory growth of {card.name}",
                made.memory_growth,
                found,
                "tf.config.experimental.get_memory_growth",
            )
    for index, sizes in (made.limits_mib or {}).items():
        parts = tf.config.get_logical_device_configuration(cards[index]) or ()
        found = tuple(int(part.memory_limit or 0) for part in parts)
        add(f"memory limit of GPU {index}", sizes, found, "tf.config.get_logical_device_configuration")
    if made.cpu_devices is not None:
        (cpu, *_) = tf.config.list_physical_devices("CPU")
        # Nothing is configured where the runtime has started with its one device.
        found = len(tf.config.get_logical_device_configuration(cpu) or (None,))
        add("logical CPU devices", made.cpu_devices, found, "tf.config.get_logical_device_configuration")
    return checks


def verify(applied: Applied | None = None) -> tuple[Check, ...]:
    """Compare what is in force in TensorFlow with what was set.

    This starts the runtime.

    Args:
        applied: What `configure` returned; by default its last answer in this process.

    Returns:
        One check for everything that was set and that TensorFlow tells. What TensorFlow does not tell is not claimed.

    Raises:
        CfgfixError: Nothing was configured.
    """
    import tensorflow as tf

    known = applied or _last
    if known is None:
        raise CfgfixError("nothing was configured in this process, so there is nothing to compare")
    made = known.plan
    checks = _start_checks(made, tf)
    logical = [device.name.removeprefix("/device:") for device in tf.config.list_logical_devices("GPU")]
    for role, name in (made.roles or {}).items():
        checks.append(
            Check(
                f"device for {role}", name, tuple(logical), name in logical, "tf.config.list_logical_devices"
            )
        )
    if made.cpu_devices is not None:
        found = len(tf.config.list_logical_devices("CPU"))
        checks.append(
            Check(
                "logical CPUs",
                made.cpu_devices,
                found,
                found == made.cpu_devices,
                "tf.config.list_logical_devices",
            )
        )
    if made.cluster is not None:
        jit = bool(tf.config.optimizer.get_jit())
        checks.append(
            Check("XLA clustering", made.cluster, jit, jit == made.cluster, "tf.config.optimizer.get_jit")
        )
    if made.jit_compile:
        works = _xla_compiles(tf)
        checks.append(
            Check("XLA for steps", True, works, works, "a function compiled with XLA gives its program")
        )
    if made.policy is not None:
        name = tf.keras.mixed_precision.global_policy().name
        source = "tf.keras.mixed_precision.global_policy"
        checks.append(Check("dtype policy", made.policy, name, name == made.policy, source))
    if made.seed is not None:
        # With an operation seed given, the question does not advance TensorFlow's own counter.
        seed = tf.compat.v1.get_seed(1)[0]
        checks.append(Check("seed", made.seed, seed, seed == made.seed, "tf.compat.v1.get_seed"))
    if made.op_determinism:
        on = _determinism_on(tf)
        checks.append(
            Check("op determinism", True, on, on, "tf.random.Generator.from_non_deterministic_state refuses")
        )
    return tuple(checks)


def _xla_compiles(tf: Any) -> bool:
    """Whether XLA compiles a function for the device that it would run on."""
    function = tf.function(lambda value: value * 2 + 1, jit_compile=True)
    try:
        program = function.experimental_get_compiler_ir(tf.constant(1.0))(stage="hlo")
        return "ENTRY" in str(program) and float(function(tf.constant(1.0))) == 3.0
    except (tf.errors.OpError, ValueError, RuntimeError, TypeError):
        return False


def _determinism_on(tf: Any) -> bool:
    """Whether deterministic operations are on: only then a generator without a fixed state is refused."""
    try:
        tf.random.Generator.from_non_deterministic_state()
    except RuntimeError:
        return True
    return False


@contextlib.contextmanager
def configured(
    config: Config = None, hardware: Hardware | str | None = None, **arguments: Any
) -> Iterator[Applied]:
    """Configure for the length of a test, and put back what was before.

    The dtype policy, XLA clustering, and the states of Python's, NumPy's and TensorFlow's random numbers are put back.
    Threads and devices are put back where the runtime has not started meanwhile; once it has, they stay for the life of
    the process, as TensorFlow keeps them.

    Args:
        config: As for `configure`.
        hardware: As for `configure`.
        **arguments: As for `configure`; `op_determinism` is refused, for TensorFlow cannot take it back.

    Raises:
        CfgfixError: See `configure`; or deterministic operations are asked for.
    """
    global _last  # noqa: PLW0603 - put back afterwards
    import random

    import numpy as np
    import tensorflow as tf

    if read_concepts(config).flag("op_determinism", arguments.get("op_determinism")):
        raise CfgfixError(
            "deterministic operations cannot be taken back in a process",
            hint="run this test in a process of its own",
        )
    before = _last
    policy = tf.keras.mixed_precision.global_policy()
    jit = tf.config.optimizer.get_jit()
    seed = tf.compat.v1.get_seed(1)[0]
    states = random.getstate(), np.random.get_state()  # noqa: NPY002 - set_random_seed seeds this one
    # TensorFlow writes numbers of zero where nothing is set, and takes them for `its own choice`.
    threads = (
        tf.config.threading.get_intra_op_parallelism_threads(),
        tf.config.threading.get_inter_op_parallelism_threads(),
    )
    visible = tf.config.get_visible_devices()
    try:
        yield configure(config, hardware, **arguments)
    finally:
        _last = before
        tf.keras.mixed_precision.set_global_policy(policy)
        tf.config.optimizer.set_jit(jit or False)
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002 - as above
        tf.random.set_seed(seed)
        if not initialized():
            tf.config.threading.set_intra_op_parallelism_threads(threads[0])
            tf.config.threading.set_inter_op_parallelism_threads(threads[1])
            tf.config.set_visible_devices(visible)


def table(checks: Sequence[Check]) -> str:
    """Return checks as lines of text, those that failed first."""
    rows = sorted(checks, key=lambda check: check.ok)
    return "\n".join(
        f"{'ok  ' if check.ok else 'NOT '} {check.name}: {check.found}"
        + ("" if check.ok else f", wanted {check.wanted} ({check.source})")
        for check in rows
    )
