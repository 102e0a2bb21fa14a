"""Settings for a machine, each with its reason: the limits of the rules, turned into values.

A value is recommended only where something is known for it: a measurement, arithmetic on stated sizes, or a document.
Everything else is left out, and said to be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from cfgfix.config.dialects.derived import (
    MIB,
    PREFETCH_OVERHEAD_BATCHES,
    burst_depth,
    device_prefetch_bytes,
    map_bytes,
    prefetch_host_bytes,
    useful_workers,
)
from cfgfix.config.dialects.signatures import Pattern
from cfgfix.config.dialects.view import View
from cfgfix.config.document.compose import Kind, deref
from cfgfix.config.schema.validate import Schema
from cfgfix.core.findings import KeyPath, format_key_path
from cfgfix.core.records import dataclass
from cfgfix.hardware.model import Hardware, has_nominal_size
from cfgfix.rules.catalogue import builtin, named
from cfgfix.rules.evidence import tables
from cfgfix.rules.expression import Missing, format_bytes
from cfgfix.rules.faults import Fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HOST_SHARE = 0.1
"""Share of the host's memory that one kind of buffer may take: where a rule begins to warn (a policy)."""
DEVICE_SHARE = 0.05
"""Share of a card that waiting batches may take: where a rule begins to warn (a policy)."""
BUFFER = 10
"""Batches that bridged the stalls of the bursty producer as well as a hundred did (benchmarks/evidence/prefetch.py)."""
HALF_FLOATS = 70
"""Compute capability 7.0, the first with 16-bit matrix units (TensorFlow's guide to mixed precision)."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A value for one key, with its reason and where the reason comes from."""

    concept: str
    path: KeyPath
    value: Any
    reason: str
    basis: str


@dataclass(frozen=True, slots=True)
class Omission:
    """A setting for which nothing is recommended, and why."""

    concept: str
    path: KeyPath
    reason: str


@dataclass(frozen=True, slots=True)
class Advice:
    """The values recommended for a machine, and the settings left out."""

    choices: tuple[Choice, ...]
    left_out: tuple[Omission, ...]

    def about(self, concept: str) -> list[Choice | Omission]:
        """Return the choices and omissions for a concept."""
        found: list[Choice | Omission] = [*self.choices, *self.left_out]
        return [item for item in found if item.concept == concept]


def recommend(view: View, hardware: Hardware, schema: Schema | None) -> Advice:
    """Return settings for a machine, in the keys of the view's dialect.

    Args:
        view: The config at hand, or an empty one; sizes that it states (lengths, image size, samples) are used.
        hardware: The machine.
        schema: The dialect's schema, where it has one: what type a key takes.
    """
    work = _Recommendation(view, hardware, schema)
    for step in _STEPS:
        step(work)
    return Advice(tuple(work.choices.values()), tuple(work.left.values()))


def tier_of(tiers: dict[Any, Any], gib: float | None) -> Any:
    """Return the entry of the highest memory tier that a card reaches, or None.

    `gib` is the total that the card reports; tiers have nominal sizes.
    """
    if gib is None:
        return None
    sizes = [size for size in tiers if has_nominal_size(float(size), gib)]
    return tiers[max(sizes)] if sizes else None


def speed(script: str, table: str, row: str) -> str:
    """Return a measured speed as text, relative to the first row of its table.

    `?` where the row is not recorded.
    """
    for found in tables(script, table):
        for name, value in found.rows:
            if name == row:
                return f"{value:g}" if isinstance(value, (int, float)) else str(value)
    return "?"


class _Recommendation:
    """The state of one recommendation: its inputs, and the choices made so far."""

    def __init__(self, view: View, hardware: Hardware, schema: Schema | None) -> None:
        self.view = view
        self.hardware = hardware
        self.schema = schema
        self.choices: dict[KeyPath, Choice] = {}
        self.left: dict[KeyPath, Omission] = {}
        self.batch: int | None = None

    def fact(self, name: str) -> Any:
        """Return a fact of the machine, or None."""
        value = self.hardware.lookup(name)
        return None if value is None else value.value

    def known(self, name: str) -> Any:
        """Return the value of an operand of the config, or None."""
        try:
            return self.view.value(name)
        except Missing:
            return None

    def number(self, name: str) -> int | None:
        """Return an operand of the config that is a whole number, or None."""
        value = self.known(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def element(self) -> int | None:
        """Return the bytes of one padded sample, or None."""
        return self.number("element_bytes")

    def ram(self) -> float | None:
        """Return the bytes of host memory that the process may use, or None."""
        mib = self.fact("memory.ram_mib")
        return None if mib is None else mib * MIB

    def place(self, concept: str) -> KeyPath | None:
        """Return the key path of a concept in the config, or where to add one.

        It is where the file gives the concept, else the first in a section that the file has, else the first of all.
        None where the dialect has none.
        """
        for binding in self.view.bindings(concept):
            if binding.origin == "file" and binding.path is not None:
                return binding.path
        plain = [
            path for path in map(_without_wildcards, self.view.dialect.concepts.get(concept, ())) if path
        ]
        for path in plain:
            if len(path) > 1 and self._has_section(path[:-1]):
                return path
        return plain[0] if plain else None

    def _has_section(self, section: KeyPath) -> bool:
        return any(deref(node).kind == Kind.MAPPING for _, _, node in self.view.places(tuple(section)))

    def set(self, concept: str, value: Any, reason: str, basis: str) -> None:
        """Recommend a value for a concept.

        Nothing changes where the dialect has no key for it or the key has a value already.
        """
        path = self.place(concept)
        if path is not None and path not in self.choices:
            self.left.pop(path, None)
            self.choices[path] = Choice(concept, path, value, reason, basis)

    def leave(self, concept: str, reason: str) -> None:
        """Note that nothing is recommended for a concept, and why."""
        path = self.place(concept)
        if path is not None and path not in self.choices:
            self.left.setdefault(path, Omission(concept, path, reason))


def _without_wildcards(pattern: Pattern) -> KeyPath | None:
    steps = tuple(step for step in pattern if isinstance(step, str))
    return steps if len(steps) == len(pattern) else None


def _choose_batch(work: _Recommendation) -> None:
    now = work.number("batch_size")
    given = now if work.view.given("batch_size") else None
    work.batch = given or now
    split = work.number("data_gpu") is not None and work.number("model_gpu") is not None
    rule = next(iter(builtin().explaining(Fault.BATCH_ABOVE_GUIDES)), None)
    gib = work.fact("gpu.total_gib")
    row = None
    if rule is not None and work.view.dialect.name in rule.dialects:
        row = tier_of(dict(rule.tables["dual" if split else "single"]["tiers"]), gib)
    peak = (
        "the largest batch that fits is found by measuring: raise it until tf.config.experimental.get_memory_info('GPU:0')['peak'] "
        "comes near the card's memory, then adapt the learning rate"
    )
    if row is not None:
        most = int(row["batch"])
        other = ""
        if rule is not None and not split and (work.fact("gpu.count") or 0) > 1:
            both = tier_of(dict(rule.tables["dual"]["tiers"]), gib)
            if both is not None:
                other = f" ({both['batch']} where data_gpu and model_gpu are both set)"
        work.batch = min(given, most) if given is not None and given >= 1 else most
        aligned = work.batch - work.batch % 8 if work.batch >= 8 else work.batch
        work.batch = aligned
        work.set(
            "batch_size",
            aligned,
            f"a start, not a measurement: this program's guides name {most} for {'two cards' if split else 'a card'} of {gib:.3g} GiB{other}"
            f"{', and the file asks for less' if given is not None and given <= most else ''}; a multiple of 8 suits 16-bit matrix units; {peak}",
            f"guides of the program, {named(Fault.BATCH_ABOVE_GUIDES)}; tensorflow/docs guide/mixed_precision.ipynb",
        )
        return
    kept = f"; {given} stays as the file has it" if given is not None else ""
    fits = _most_samples(work)
    if fits is not None:
        most, parts = fits
        work.leave(
            "batch_size",
            f"the model that the code builds needs {parts}: {most} is the most that a card may hold{kept}; {peak}",
        )
        return
    work.leave(
        "batch_size",
        f"activations decide, and no config tells their size{kept}; {peak}; multiples of 8 suit 16-bit matrix units",
    )


def _most_samples(work: _Recommendation) -> tuple[int, str] | None:
    """Return the largest batch of the code's model that fits the card, with its needs.

    The needs are a text. None where the sizes are not known.
    """
    fixed, sample = work.number("training_fixed_bytes"), work.number("training_sample_bytes")
    usable = work.fact("gpu.usable_mib")
    if fixed is None or not sample or usable is None:
        return None
    most = max(0, math.floor((usable * MIB - fixed) / sample))
    return most, f"{format_bytes(fixed)} and {format_bytes(sample)} for each sample"


def _choose_workers(work: _Recommendation) -> None:
    usable = work.fact("cpu.usable")
    if usable is None:
        autotune = work.view.dialect.facts.get("workers_autotune")
        why = f"the CPUs of {work.hardware.label} are not stated (add cpus=N)"
        if autotune is not None:
            work.set(
                "workers",
                autotune,
                f"{why}; this program hands the number to tf.data unchanged, so {autotune} is AUTOTUNE, which takes the CPUs it finds",
                "tensorflow/docs guide/data_performance.ipynb",
            )
        else:
            work.leave("workers", f"{why}; the right number is that of the CPUs the process may use")
        return
    cpus = useful_workers(usable)
    cap = work.view.dialect.facts.get("workers_cap")
    calls = min(cpus, cap) if isinstance(cap, int) else cpus
    reasons = [f"this process may use {usable:g} CPUs ({work.hardware.cpu.limited_by or 'stated'})"]
    if calls < cpus:
        reasons.append(f"the program runs at most {cap} at once")
    element, ram = work.element(), work.ram()
    if element and ram:
        fitting = max(1, math.floor(HOST_SHARE * ram / element))
        if fitting < calls:
            calls = fitting
            reasons.append(f"more would hold over a tenth of the {format_bytes(ram)} of memory")
        else:
            reasons.append(f"they hold {format_bytes(map_bytes(calls, element))} of samples")
    reasons.append(
        "calls above the CPUs gained nothing (2 CPUs, against 1 call: "
        f"{speed('workers', 'CPU-bound map', '2 calls')} times as fast with 2, {speed('workers', 'CPU-bound map', '32 calls')} with 32)"
    )
    work.set(
        "workers",
        calls,
        "; ".join(reasons),
        f"benchmarks/evidence/workers.py, {named(Fault.CALLS_ABOVE_CPUS, Fault.IDLE_CPUS)}",
    )


def _choose_buffer(work: _Recommendation) -> None:
    if work.view.dialect.facts.get("prefetch_unread"):
        decides = work.place("pipeline_buffer")
        other = format_key_path(decides) if decides else "the code"
        work.leave("prefetch", f"nothing in this program reads it; {other} decides")
    concept = "host_buffer" if "host_buffer" in work.view.dialect.concepts else "prefetch"
    if work.view.dialect.facts.get("prefetch_unread") and "pipeline_buffer" in work.view.dialect.concepts:
        concept = "pipeline_buffer"
    if concept not in work.view.dialect.concepts:
        return
    element, ram, batch = work.element(), work.ram(), work.batch
    size = batch * element if batch and element else None
    buffer = BUFFER
    two, ten, hundred = (speed("prefetch", "bursty", f"prefetch({size})") for size in (2, BUFFER, 100))
    bridged = (
        f"bridges stalls of up to {BUFFER} steps; one batch of lead is enough for a steady producer, and the bursty one that was "
        f"measured needed {burst_depth(31, 5)} (times as fast as without: {two} with 2, {ten} with {BUFFER}, {hundred} with 100)"
    )
    reasons = [bridged]
    if size and ram:
        fitting = math.floor(HOST_SHARE * ram / size) - PREFETCH_OVERHEAD_BATCHES
        if fitting < buffer:
            buffer = max(1, fitting)
            reasons.append(f"more than {buffer} would take over a tenth of the {format_bytes(ram)} of memory")
        held = prefetch_host_bytes(buffer, size)
        reasons.append(
            f"with batches of {format_bytes(size)} it holds {format_bytes(held)}, {100 * held / ram:.2g} % of the memory"
        )
    elif size:
        reasons.append(f"batches of {format_bytes(size)}; the machine's memory is not stated (add ram=GiB)")
    usable = work.fact("gpu.usable_mib")
    floor = work.view.dialect.facts.get("device_buffer_floor")
    on_device = work.place("device_buffer") == work.place(concept)
    if size and usable and on_device:
        least = floor if isinstance(floor, int) else 1
        fitting = math.floor(DEVICE_SHARE * usable * MIB / size)
        if fitting < buffer:
            buffer = max(1, min(buffer, fitting))
        there = device_prefetch_bytes(max(least, buffer), size)
        reasons.append(
            f"{max(least, buffer)} of them wait on the card: {format_bytes(there)}, {100 * there / (usable * MIB):.2g} % of it"
        )
    rules = named(Fault.PREFETCH_FILLS_MEMORY, Fault.PREFETCH_TOO_LONG, Fault.PREFETCH_FILLS_CARD)
    work.set(concept, buffer, "; ".join(reasons), f"benchmarks/evidence/prefetch.py, {rules}")


def _device_prefetch(work: _Recommendation) -> None:
    count = work.fact("gpu.count")
    if count is None:
        return
    if count:
        copied = speed("on_gpu", "copied to it", "prefetch_to_device last")
        reason = (
            f"copies to the card overlap with the step (batches of 64 MB reached an H100 {copied} times as fast); prefetch_to_device must then be the "
            "last step of the pipeline"
        )
    else:
        reason = f"{work.hardware.label} has no GPU"
    work.set(
        "device_prefetch",
        bool(count),
        reason,
        f"benchmarks/evidence/on_gpu.py, {named(Fault.DEVICE_PREFETCH_NOT_LAST)}; tensorflow/python/data/experimental/ops/prefetching_ops.py, 2.21",
    )


def _choose_threads(work: _Recommendation) -> None:
    for concept, table in (("intra_op_threads", "intra-op"), ("inter_op_threads", "inter-op")):
        slow = speed("threads", table, "32 threads")
        work.set(
            concept,
            0,
            f"TensorFlow's own choice, all CPUs; 32 threads on 2 CPUs were {slow} times as fast",
            f"benchmarks/evidence/threads.py, {named(Fault.CONFIGURED_THREADS_ABOVE_CPUS)}",
        )
    work.set(
        "private_threads",
        0,
        "the shared pool has a thread for each CPU; a larger one helps only functions that wait for disk or network",
        f"benchmarks/evidence/workers.py, threads.py, {named(Fault.POOL_ABOVE_CPUS)}",
    )


def _choose_shuffle(work: _Recommendation) -> None:
    samples, element, ram = work.number("dataset_size"), work.element(), work.ram()
    if samples and element and ram:
        buffer = max(1, min(samples, math.floor(HOST_SHARE * ram / element)))
        whole = "the whole data set" if buffer == samples else "a tenth of the memory"
        work.set(
            "shuffle_buffer",
            buffer,
            f"{whole}: {buffer:,} samples of {format_bytes(element)}, if they are shuffled after decoding; a buffer as large as the data set mixes best",
            f"benchmarks/evidence/shuffle.py, {named(Fault.SHUFFLE_FILLS_MEMORY)}",
        )
    else:
        work.leave(
            "shuffle_buffer", "the number of samples, their size or the machine's memory is not stated"
        )
    work.leave(
        "shuffle_multiplier",
        "the larger the better it mixes; it depends on the number of samples"
        + (
            ", and costs little: the program shuffles sample numbers"
            if work.view.dialect.facts.get("shuffle_element_bytes")
            else ""
        ),
    )


def _choose_cache(work: _Recommendation) -> None:
    samples, element, ram = work.number("dataset_size"), work.element(), work.ram()
    if samples and element and ram:
        total = samples * element
        verdict = (
            "fits"
            if total <= ram / 2
            else "takes more than half of the memory"
            if total <= ram
            else "does not fit"
        )
        work.leave(
            "cache",
            f"{samples:,} decoded samples are {format_bytes(total)}, which {verdict} ({format_bytes(ram)}); whether the cache stands before or after random augmentation is in the code",
        )
    else:
        work.leave(
            "cache",
            "it holds every sample as it is at that point of the pipeline; samples, their size or the memory are not stated",
        )


def _recommend_mixed_precision(work: _Recommendation) -> None:
    path = work.place("mixed_precision")
    if path is None:
        return
    form = _form_of_key(work, path)
    count, capability = work.fact("gpu.count"), work.fact("gpu.cc")
    bf16 = work.fact("gpu.bf16")
    if count == 0:
        value: Any = False if form == "bool" else "float32"
        reason = "no GPU: 16-bit policies are for cards with matrix units, and change the numbers"
    elif capability is None:
        work.leave("mixed_precision", "the compute capability of the card is not known")
        return
    elif capability < HALF_FLOATS:
        value = False if form == "bool" else "float32"
        reason = f"compute capability {capability / 10:.1f}: no 16-bit matrix units below 7.0"
    else:
        policy = "mixed_bfloat16" if bf16 else "mixed_float16"
        stands_for = work.view.dialect.facts.get("mixed_true_policy", "mixed_float16")
        value = True if form == "bool" else policy
        reason = f"compute capability {capability / 10:.1f}: 16-bit matrix units, and activations take half the memory; weights, gradients and optimizer state stay float32"
        if form == "bool" or not bf16:
            reason += f"; {stands_for} needs loss scaling in a training loop of one's own"
        else:
            reason += "; bfloat16 has the range of float32 and needs no loss scaling"
        gain = speed("on_gpu", "dense Keras model", f"{policy}, jit_compile=False")
        reason += (
            f"; a dense model on an H100 trained {gain} times as fast as in float32 (there TF32); it changes the numbers: compare the "
            "losses of a short run"
        )
    if form == "unknown":
        work.leave(
            "mixed_precision",
            f"{'off' if value == 'float32' else value} is what fits this card ({reason}), but whether the program takes a policy's name or true is not known",
        )
        return
    rules = named(
        Fault.HALF_WITHOUT_UNITS, Fault.HALF_WITHOUT_GPU, Fault.BFLOAT16_WITHOUT_UNITS, Fault.SINGLE_ON_UNITS
    )
    work.set(
        "mixed_precision",
        value,
        reason,
        f"benchmarks/evidence/on_gpu.py; tensorflow/docs guide/mixed_precision.ipynb, {rules}",
    )


def _form_of_key(work: _Recommendation, path: KeyPath) -> str:
    """Return `bool` or `name`: which of them a key for 16-bit computation takes.

    `unknown` where nothing tells.
    """
    if work.schema is not None:
        types = work.schema.expected_types(path)
        if types is not None:
            return "bool" if "boolean" in types else "name"
    value = work.known("mixed_precision")
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "name"
    last = str(path[-1])
    return "name" if "policy" in last or "dtype" in last else "unknown"


def _choose_xla(work: _Recommendation) -> None:
    padded = speed("functions", "lengths", "XLA, padded")
    fixed = speed("on_gpu", "dense Keras model", "float32, jit_compile=True")
    reason = (
        "compile first when it has been measured to pay, with shapes that never change: over lengths that vary it compiled again and again, "
        f"and padding to one length made the same steps {padded} times as fast; on CPUs its gain went both ways, on an H100 a dense "
        f"model of fixed shapes trained {fixed} times as fast; all switches say the same"
    )
    if (work.fact("gpu.count") or 0) > 1:
        reason += "; Keras' own choice is off under a distribution strategy"
    rules = named(
        Fault.XLA_PER_LENGTH, Fault.SWITCHES_DISAGREE, Fault.XLA_WITHOUT_GPU, Fault.XLA_ON_SEVERAL_GPUS
    )
    basis = f"benchmarks/evidence/functions.py, keras_fit.py, on_gpu.py, {rules}"
    for concept in ("xla_step", "xla_auto", "keras_jit", "xla"):
        work.set(concept, False, reason, basis)


def _choose_graph(work: _Recommendation) -> None:
    small = speed("functions", "width 64", "graph")
    large = speed("functions", "width 1024", "graph")
    basis = f"benchmarks/evidence/functions.py, keras_fit.py, {named(Fault.EAGER_BY_CONFIG)}"
    work.set(
        "graph_mode",
        True,
        f"a graph was {small} (small steps) to {large} times (large) as fast as eager",
        basis,
    )
    slow = speed("keras_fit", "width 64", "run_eagerly")
    for concept in ("eager_debug", "run_eagerly"):
        work.set(concept, False, f"for debugging only: Keras' fit was {slow} times as fast with it", basis)


def _choose_devices(work: _Recommendation) -> None:
    count = work.fact("gpu.count")
    if count:
        work.set("num_gpus", count, f"{work.hardware.label} has {count}", "the machine")
    for concept in ("data_gpu", "model_gpu"):
        path = work.place(concept)
        types = work.schema.expected_types(path) if work.schema is not None and path is not None else None
        if types is not None and "null" in types:
            reason = (
                "one card does everything"
                if (count or 0) < 2
                else "a card for data would only hold copies, decoding runs on CPUs; the second card is worth more to a second run, or to MirroredStrategy"
            )
            work.set(concept, None, reason, "source of the program; tensorflow/docs guide/gpu.ipynb")
        else:
            work.leave(concept, "which card has which role is a matter of the program")
    for concept in ("gpu_memory_mb", "data_gpu_memory_mb", "model_gpu_memory_mb", "gpu_memory_fraction"):
        usable = work.fact("gpu.usable_mib")
        known = f" (TensorFlow takes about {usable:.0f} MiB of this one)" if usable else ""
        work.leave(concept, f"a limit gives no memory, it divides a card among processes{known}")
    work.leave(
        "memory_growth", "only where several processes share a card; it and a limit exclude each other"
    )


def _data_questions(work: _Recommendation) -> None:
    work.leave(
        "pad_fixed",
        "one shape for all batches ends retracing, and costs the padding; the longest text and recording of the data decide the lengths",
    )
    work.leave("native_loading", "it swaps the feature extractor, so it changes what is learned")
    work.leave("deterministic", "false gives up the order of samples; a gain was not measured")
    for concept in ("pin_memory", "persistent_workers"):
        work.leave(concept, "a setting of PyTorch; TensorFlow has none by that name")
    work.leave("gradient_accumulation", "it changes the effective batch, so it changes what is learned")


_STEPS: tuple[Callable[[_Recommendation], None], ...] = (
    _choose_batch,
    _choose_workers,
    _choose_buffer,
    _device_prefetch,
    _choose_threads,
    _choose_shuffle,
    _choose_cache,
    _recommend_mixed_precision,
    _choose_xla,
    _choose_graph,
    _choose_devices,
    _data_questions,
)


def memory_use(advice: Advice, view: View, hardware: Hardware) -> Iterator[tuple[str, float, float | None]]:
    """Yield the parts of host memory that the recommended settings use.

    Each is (name, bytes, share of the memory); the share is None where the memory is not known.
    """
    work = _Recommendation(view, hardware, None)
    values = {choice.concept: choice.value for choice in advice.choices}
    element, ram = work.element(), work.ram()
    batch = values.get("batch_size", work.number("batch_size"))
    if not element or not isinstance(batch, int) or batch < 1:
        return
    share = (lambda size: size / ram) if ram else (lambda _size: None)
    for concept in ("pipeline_buffer", "host_buffer", "prefetch"):
        buffer = values.get(concept)
        if isinstance(buffer, int) and buffer >= 0:
            size = float(prefetch_host_bytes(buffer, batch * element))
            yield f"{buffer} prefetched batches of {format_bytes(batch * element)}", size, share(size)
            break
    calls = values.get("workers")
    if isinstance(calls, int) and calls >= 1:
        size = float(map_bytes(calls, element))
        yield f"{calls} samples in parallel calls", size, share(size)
