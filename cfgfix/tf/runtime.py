"""Configure TensorFlow for a machine, and read back what is in force.

`plan` decides without touching TensorFlow; `configure` applies a plan; `verify` asks TensorFlow what it has, so that a
setting that did not arrive is seen.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from cfgfix.core.errors import CfgfixError
from cfgfix.tf.concepts import Config, read_concepts

if TYPE_CHECKING:
    from cfgfix.hardware.model import Hardware
from cfgfix.tf.runtime_plan import POLICIES, Plan, RuntimeInitializedError, Setting, plan

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Applied:
    """The settings that `configure` has made."""

    plan: Plan

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings that were made, each with its reason."""
        return self.plan.settings

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks for the user."""
        return self.plan.notes

    @property
    def policy(self) -> str | None:
        """The dtype policy, or None where it was left alone."""
        return self.plan.policy

    @property
    def devices(self) -> tuple[str, ...]:
        """The names of the chosen GPUs in TensorFlow, in the caller's order.

        TensorFlow numbers them by physical order.
        """
        return self.plan.devices

    def device(self, role: str) -> str:
        """Return the name of the logical device with a role, such as `GPU:1`.

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
        """Return a step compiled as the settings of graph mode and XLA say.

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
    """One setting: the value wanted, and the value in TensorFlow."""

    name: str
    wanted: object
    found: object
    ok: bool
    source: str
    """What was asked."""


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
    """Set in TensorFlow the settings of a plan.

    Args:
        made: The plan with the settings.
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
    """Return checks of the settings that are fixed once the runtime starts."""
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
    """Return checks of the settings in force against those that were set.

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
    """Return whether XLA compiles a function for the default device."""
    function = tf.function(lambda value: value * 2 + 1, jit_compile=True)
    try:
        program = function.experimental_get_compiler_ir(tf.constant(1.0))(stage="hlo")
        return "ENTRY" in str(program) and float(function(tf.constant(1.0))) == 3.0
    except (tf.errors.OpError, ValueError, RuntimeError, TypeError):
        return False


def _determinism_on(tf: Any) -> bool:
    """Return whether deterministic operations are in force.

    Only then a generator without a fixed state is refused.
    """
    try:
        tf.random.Generator.from_non_deterministic_state()
    except RuntimeError:
        return True
    return False


@contextlib.contextmanager
def configured(
    config: Config = None, hardware: Hardware | str | None = None, **arguments: Any
) -> Iterator[Applied]:
    """Configure TensorFlow while the body runs, then restore the former settings.

    The dtype policy, XLA clustering, and the states of Python's, NumPy's and TensorFlow's random numbers are put
    back. Threads and devices are put back where the runtime has not started meanwhile; once it has, they stay for the
    life of the process, as TensorFlow keeps them.

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
    """Return checks as lines of text, failed ones first."""
    rows = sorted(checks, key=lambda check: check.ok)
    return "\n".join(
        f"{'ok  ' if check.ok else 'NOT '} {check.name}: {check.found}"
        + ("" if check.ok else f", wanted {check.wanted} ({check.source})")
        for check in rows
    )


__all__ = [
    "POLICIES",
    "Applied",
    "Check",
    "Plan",
    "RuntimeInitializedError",
    "Setting",
    "apply",
    "configure",
    "configured",
    "initialized",
    "plan",
    "table",
    "verify",
]
