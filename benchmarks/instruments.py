"""How wrong the instruments are: pipelines and steps whose truth is known, and the error of every figure.

    python benchmarks/instruments.py                 everything (some minutes)
    python benchmarks/instruments.py stages          one part
    python benchmarks/instruments.py --strict        exit 1 where an error is beyond its limit

The truth of a stage that sleeps or spins is the time it was told to take; of a stage that computes, its time measured alone.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import numpy as np

from cfgfix.measure.oscillation import Outcome, find_oscillation
from cfgfix.measure.statistics import steady_state

BAD: list[str] = []
ROWS: list[tuple[str, str, str, str, str, str]] = []


def row(
    part: str, figure: str, truth: float, found: float, error: float, limit: float, unit: str = ""
) -> None:
    good = abs(error) <= limit
    if not good:
        BAD.append(f"{part}: {figure}")
    ROWS.append(
        (
            part,
            figure,
            f"{truth:.4g}",
            f"{found:.4g}",
            f"{error:+.3g}{unit}",
            f"{limit:g}{unit}" + ("" if good else "  BEYOND"),
        )
    )
    print(
        f"  {figure:<46} truth {truth:>9.4g}  found {found:>9.4g}  error {error:>+8.3g}{unit}  limit {limit:g}{unit}{'' if good else '  BEYOND'}",
        flush=True,
    )


# --- oscillation: pure functions of arrays ---------------------------------------------------------------------------


def noises(count: int, random: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    index = np.arange(count)
    yield "white noise", 1 + 0.1 * random.standard_normal(count)
    yield "exponential noise", random.exponential(1, count)
    yield "linear drift", 1 + 0.1 * random.standard_normal(count) + random.choice([0.2, 1, 3]) * index / count
    yield "curved drift", 1 + 0.1 * random.standard_normal(count) + 2 * (index / count) ** 2
    yield (
        "bimodal noise",
        np.where(random.random(count) < random.uniform(0.1, 0.5), 2, 1)
        + 0.05 * random.standard_normal(count),
    )
    series = 1 + 0.05 * random.standard_normal(count)
    series[random.integers(count)] += 13
    yield "one outlier", series
    series = 1 + 0.05 * random.standard_normal(count)
    series[random.integers(0, count, 3)] += 5
    yield "three outliers", series
    yield (
        "recurring disturbances",
        1
        + 0.01 * random.standard_normal(count)
        + (random.random(count) < 0.15) * random.exponential(0.2, count),
    )
    yield "level shift", 1 + 0.1 * random.standard_normal(count) + (index > random.uniform(0.2, 0.8) * count)
    # Beyond what is promised: noise with memory, told so that nobody is surprised.
    for phi in (0.5, 0.9):
        drive = random.standard_normal(count + 100)
        for place in range(1, count + 100):
            drive[place] += phi * drive[place - 1]
        yield f"memory {phi}", 3 + 0.3 * drive[100:]


PROMISED = (
    "white noise",
    "linear drift",
    "curved drift",
    "bimodal noise",
    "one outlier",
    "three outliers",
    "exponential noise",
    "recurring disturbances",
    "level shift",
)


def signals(count: int, random: np.random.Generator) -> Iterator[tuple[str, float, np.ndarray]]:
    index = np.arange(count)
    noise = 1 + 0.1 * random.standard_normal(count)
    for period, name, wave in (
        (5.0, "spike every 5, 5 sigma", 0.5 * ((index + random.integers(5)) % 5 == 0)),
        (10.0, "spike every 10, 5 sigma", 0.5 * ((index + random.integers(10)) % 10 == 0)),
        (3.3, "sine 3.3, amplitude 1 sigma", 0.1 * np.sin(2 * math.pi * index / 3.3 + random.uniform(0, 6))),
        (7.7, "sine 7.7, amplitude 1 sigma", 0.1 * np.sin(2 * math.pi * index / 7.7 + random.uniform(0, 6))),
        (7.7, "sine 7.7, amplitude 2 sigma", 0.2 * np.sin(2 * math.pi * index / 7.7 + random.uniform(0, 6))),
        (12.5, "square 12.5, height 3 sigma", 0.3 * (((index + random.integers(12)) / 12.5 % 1) < 0.5)),
        (12.5, "sine 12.5 on a drift, 2 sigma", 0.2 * np.sin(2 * math.pi * index / 12.5) + 2 * index / count),
    ):
        yield name, period, noise + wave
    disturbed = 1 + 0.01 * random.standard_normal(count)
    disturbed += (random.random(count) < 0.15) * random.exponential(0.2, count)
    disturbed[int(random.integers(12)) :: 12] += 2
    yield "stall every 12 among disturbances", 12.0, disturbed


def oscillation(quick: bool, counts: tuple[int, ...] = (50, 100, 500)) -> None:
    """False alarms, detection and period errors of the test."""
    repeats = {50: 100, 100: 100, 500: 40} if quick else {50: 250, 100: 200, 500: 100}
    for count, times in repeats.items():
        if count not in counts:
            continue
        random = np.random.default_rng(count)
        alarms: dict[str, list[bool]] = {}
        doubts: dict[str, int] = {}
        for turn in range(times):
            for name, series in noises(count, random):
                found = find_oscillation(series, seed=turn)
                alarms.setdefault(name, []).append(found.outcome is Outcome.OSCILLATING)
                doubts[name] = doubts.get(name, 0) + (found.outcome is Outcome.INCONCLUSIVE)
        for name, hits in alarms.items():
            share = 100 * statistics.fmean(hits)
            limit = 5 if name in PROMISED else 100
            row("false alarms", f"{name}, {count} batches ({times} series)", 0, share, share, limit, " %")
        hits_of: dict[str, list[bool]] = {}
        errors: dict[str, list[float]] = {}
        for turn in range(max(40, times // 4)):
            for name, period, series in signals(count, random):
                found = find_oscillation(series, seed=turn)
                hit = found.outcome is Outcome.OSCILLATING
                hits_of.setdefault(name, []).append(hit)
                if hit and found.period:
                    errors.setdefault(name, []).append(100 * (found.period / period - 1))
        for name, hits in hits_of.items():
            rate = 100 * statistics.fmean(hits)
            wrong = errors.get(name, [])
            middle = statistics.median(abs(error) for error in wrong) if wrong else math.nan
            inside = 100 * statistics.fmean(abs(error) <= 5 for error in wrong) if wrong else math.nan
            print(
                f"  detected {rate:5.1f} %  period: median error {middle:5.2f} %, within 5 % in {inside:5.1f} %   {name}, {count} batches",
                flush=True,
            )
            ROWS.append(
                (
                    "detection",
                    f"{name}, {count} batches",
                    "",
                    f"{rate:.0f} % found",
                    f"{middle:.2g} % period",
                    f"{inside:.0f} % within 5 %",
                )
            )


def steadiness(quick: bool) -> None:
    """The steady-state test on settled and on drifting series."""
    random = np.random.default_rng(1)
    times = 200 if quick else 1000
    for count in (50, 200):
        index = np.arange(count)
        settled = statistics.fmean(
            not steady_state(1 + 0.1 * random.standard_normal(count)).steady for _ in range(times)
        )
        row(
            "steady state",
            f"settled series called drifting, {count}",
            0,
            100 * settled,
            100 * settled,
            5,
            " %",
        )
        warm = [
            steady_state(np.where(index < 10, 3, 1) + 0.1 * random.standard_normal(count)).start
            for _ in range(times)
        ]
        left = 100 * statistics.fmean(start < 10 for start in warm)
        row("steady state", f"warm-up of 10 not cut off whole, {count}", 0, left, left, 5, " %")
        extra = statistics.fmean(max(0, start - 10) for start in warm)
        row(
            "steady state",
            f"values cut beyond the warm-up, {count}",
            0,
            extra,
            100 * extra / count,
            5,
            " % of all",
        )
        for drift in (0.5, 1.0):
            found = 100 * statistics.fmean(
                not steady_state(1 + drift * index / count + 0.1 * random.standard_normal(count)).steady
                for _ in range(times)
            )
            print(f"  drift of {drift:.0%} in noise of 10 % found {found:5.1f} %, {count} values", flush=True)
            ROWS.append(
                ("steady state", f"drift of {drift:.0%} found, {count}", "", f"{found:.0f} % found", "", "")
            )


Spans = list[tuple[float, float]]
"""Begin and end of each call of a stage."""


def mean_of(spent: Spans) -> float:
    return statistics.fmean(end - begin for begin, end in spent)


# --- pipelines -------------------------------------------------------------------------------------------------------


def sleeping(seconds: float, spent: Spans | None = None) -> Callable:
    """An element function that sleeps: it waits, as for a disk, and lets others work. `spent` gets what it really took."""
    import tensorflow as tf

    def wait(value):
        begin = time.perf_counter()
        time.sleep(seconds)
        if spent is not None:
            spent.append((begin, time.perf_counter()))
        return value

    def stage(value):
        made = tf.numpy_function(wait, [value], tf.int64, stateful=False)
        made.set_shape([])
        return made

    return stage


def spinning(seconds: float, spent: Spans | None = None) -> Callable:
    """An element function that holds the interpreter lock for so much CPU time of its thread.

    `spent` gets how long that really took: on a machine with other work a thread waits for a CPU.
    """
    import tensorflow as tf

    def spin(value):
        begin = time.perf_counter()
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass
        if spent is not None:
            spent.append((begin, time.perf_counter()))
        return value

    def stage(value):
        made = tf.numpy_function(spin, [value], tf.int64, stateful=False)
        made.set_shape([])
        return made

    return stage


def computing(rounds: int, size: int = 64, total=None) -> Callable:
    """An element function of TensorFlow operations; the variable `total` adds up how long they took."""
    import tensorflow as tf

    def stage(value):
        begin = tf.timestamp()
        with tf.control_dependencies([begin]):
            table = tf.fill([size, size], tf.cast(value % 7, tf.float32))
        for _ in range(rounds):
            table = tf.matmul(table, table) * 1e-3
        last = tf.reduce_sum(table)
        if total is not None:
            with tf.control_dependencies([last]):
                end = tf.timestamp()
            total.assign_add(end - begin)
        return value + tf.cast(0 * last, tf.int64)

    return stage


def stages(quick: bool) -> None:
    """Shares of stages that sleep, spin, and compute; the truth is what the stages themselves took down."""
    import tensorflow as tf

    from cfgfix.measure.stages import measure_stages

    batches = 40 if quick else 80
    for label, kinds, seconds, calls in (
        ("sleep 3 ms, sleep 1 ms", (sleeping, sleeping), (0.003, 0.001), None),
        ("sleep 2 ms, hold the lock 2 ms", (sleeping, spinning), (0.002, 0.002), None),
        ("hold the lock 1 ms, sleep 4 ms", (spinning, sleeping), (0.001, 0.004), None),
        ("hold the lock 4 ms, hold it 2 ms", (spinning, spinning), (0.004, 0.002), None),
        ("sleep 8 ms in parallel by 4, sleep 2 ms", (sleeping, sleeping), (0.008, 0.002), 4),
    ):
        took: tuple[Spans, Spans] = ([], [])
        made = [kind(pause, into) for kind, pause, into in zip(kinds, seconds, took, strict=True)]
        first = {"num_parallel_calls": calls} if calls else {"synchronous": True}
        dataset = tf.data.Dataset.range(10**6).map(made[0], **first).map(made[1], synchronous=True).batch(4)
        found = [
            stage.share for stage in measure_stages(dataset, batches=batches) if "Map" in stage.operation
        ]
        means = [mean_of(entry) for entry in took]
        for place, mean in enumerate(means):
            truth = mean / sum(means)
            row(
                "stage share",
                f"{label}: stage {place + 1}",
                truth * 100,
                found[place] * 100,
                100 * (found[place] - truth),
                5,
                " points",
            )
    for label, rounds, size, limit in (
        ("3 products of 512 x 512, sleep 20 ms", 3, 512, 5),
        ("200 products of 16 x 16 (operations of microseconds), sleep 5 ms", 200, 16, 100),
    ):
        total = tf.Variable(0.0, dtype=tf.float64)
        spent: Spans = []
        burn = computing(rounds, size, total)
        wait = sleeping(0.020 if size > 100 else 0.005, spent)
        dataset = (
            tf.data.Dataset.range(10**6).map(burn, synchronous=True).map(wait, synchronous=True).batch(2)
        )
        found = [
            stage.share for stage in measure_stages(dataset, batches=batches) if stage.operation == "Map"
        ]
        cost, pause = float(total.numpy()) / len(spent), mean_of(spent)
        truth = cost / (cost + pause)
        row(
            "stage share",
            f"{label}: stage 1",
            truth * 100,
            found[0] * 100,
            100 * (found[0] - truth),
            limit,
            " points",
        )


def periods(quick: bool) -> None:
    """Periods of pipelines that stall every k batches, through the whole of `profile data`'s path."""
    import tensorflow as tf

    from cfgfix.measure.sampling import iterate

    for every, batches in ((8, 100), (20, 150), (25, 200)) if not quick else ((8, 100),):
        spent: dict[bool, list[float]] = {True: [], False: []}

        def stall(value, every=every, spent=spent):
            begin = time.perf_counter()
            long = int(value) % every == 0
            time.sleep(0.1 if long else 0.01)
            spent[long].append(time.perf_counter() - begin)
            return value

        def stage(value, stall=stall):
            made = tf.numpy_function(stall, [value], tf.int64)
            made.set_shape([])
            return made

        line = iterate(tf.data.Dataset.range(10**6).map(stage), batches=batches)
        series = line.after(line.steadiness().start).periods
        found = find_oscillation(series)
        period = found.period or math.nan
        row(
            "period",
            f"stall every {every} of {batches} batches",
            every,
            period,
            100 * (period / every - 1),
            5,
            " %",
        )
        truth = statistics.median(spent[True]) - statistics.median(spent[False])
        height = found.amplitude or math.nan
        row("period", "  its height in ms", truth * 1e3, height * 1e3, 100 * (height / truth - 1), 10, " %")


def idle(quick: bool) -> None:
    """Idle share of a device with a given step time."""
    import tensorflow as tf

    from cfgfix.measure.data import measure_consumer, measure_rates
    from cfgfix.measure.data_profile import Plan
    from cfgfix.measure.sampling import iterate

    numbers = tf.data.Dataset.range(10**6)
    for kind, seconds, step, ahead, label in (
        (sleeping, 0.02, 0.01, True, "20 ms per batch prefetched, step 10 ms"),
        (sleeping, 0.01, 0.02, True, "10 ms per batch prefetched, step 20 ms"),
        (sleeping, 0.02, 0.02, False, "20 ms per batch, step 20 ms, nothing prefetched"),
        (sleeping, 0.01, 0.03, False, "10 ms per batch, step 30 ms, nothing prefetched"),
        (spinning, 0.015, 0.01, True, "15 ms of the lock prefetched, step 10 ms"),
        (spinning, 0.01, 0.03, False, "10 ms of the lock, step 30 ms, nothing prefetched"),
    ):
        options = tf.data.Options()
        # TensorFlow puts a prefetch at the end of every pipeline by itself; without it there is no overlap to measure.
        options.experimental_optimization.inject_prefetch = False
        spent: Spans = []
        dataset = numbers.map(kind(seconds, spent), synchronous=True)
        dataset = (dataset.prefetch(2) if ahead else dataset).with_options(options)
        plan = Plan(batches=60 if quick else 150, seconds=20, step_seconds=step, trace=False)
        rates, _ = measure_rates(iterate(dataset, batches=40))
        spent.clear()
        found = measure_consumer(lambda dataset=dataset: dataset, rates, plan)
        # By the stage's own clock: from one of its calls to the next, less the step as it really was; on a busy machine a sleep
        # ends late and a spin waits for a CPU.
        busy = found.real_step_seconds or step
        wait = max(0.0, (spent[-1][1] - spent[0][0]) / len(spent) - busy)
        truth = wait / (wait + busy)
        row(
            "idle share",
            label,
            truth * 100,
            found.idle.value * 100,
            100 * (found.idle.value - truth),
            5,
            " points",
        )


def cpus(quick: bool) -> None:
    """CPU seconds per batch, and the CPUs needed for a step."""
    import tensorflow as tf

    from cfgfix.measure.data import measure_rates
    from cfgfix.measure.sampling import iterate

    dataset = tf.data.Dataset.range(10**6).map(spinning(0.010), synchronous=True).batch(4).prefetch(2)
    rates, _ = measure_rates(iterate(dataset, batches=50 if quick else 100))
    row(
        "CPU",
        "40 ms of CPU per batch",
        40,
        rates.cpu_per_batch * 1e3,
        100 * (rates.cpu_per_batch / 0.04 - 1),
        10,
        " %",
    )
    row(
        "CPU",
        "CPUs needed for a step of 5 ms",
        8,
        rates.cpu_per_batch / 0.005,
        100 * (rates.cpu_per_batch / 0.005 / 8 - 1),
        10,
        " %",
    )
    dataset = tf.data.Dataset.range(10**6).map(sleeping(0.005), synchronous=True).batch(4)
    rates, _ = measure_rates(iterate(dataset, batches=50 if quick else 100))
    row("CPU", "CPUs at work while a stage sleeps", 0, rates.cpus_busy, rates.cpus_busy, 0.15)


def lock(quick: bool) -> None:
    """How much of the time Python holds the interpreter lock, and who is blamed."""
    import tensorflow as tf

    from cfgfix.measure.data import measure
    from cfgfix.measure.data_profile import Plan

    numbers = tf.data.Dataset.range(10**6)
    for make, per_batch, label, words in (
        (
            lambda: numbers.map(spinning(0.010), num_parallel_calls=3),
            0.010,
            "holds it 10 ms, three calls at once",
            "holds the interpreter lock",
        ),
        (
            lambda: numbers.map(spinning(0.003), synchronous=True).map(sleeping(0.009), synchronous=True),
            0.003,
            "holds it 3 ms, sleeps 9 ms",
            "Python that waits",
        ),
        (lambda: numbers.map(sleeping(0.010), synchronous=True), 0.0, "sleeps 10 ms", "Python that waits"),
        (
            lambda: numbers.map(computing(300), synchronous=True).map(sleeping(0.002), synchronous=True),
            0.0,
            "TensorFlow computes, Python sleeps 2 ms",
            None,
        ),
    ):
        plan = Plan(batches=50 if quick else 100, seconds=10, step_seconds=0.001, trace=False)
        found = measure(make, plan)
        truth = 100 * per_batch / found.rates.batch.mean
        assert found.lock is not None
        low, high = 100 * found.lock.low, 100 * found.lock.high
        # The answer is an interval: its error is how far the truth lies outside.
        error = min(0.0, high - truth) + max(0.0, low - truth)
        row("interpreter lock", f"{label}: share held", truth, (low + high) / 2, error, 10, " points")
        said = next(verdict.summary for verdict in found.verdicts if verdict.name == "stage")
        print(f"    {low:.0f} % to {high:.0f} %; {said}", flush=True)
        right = words in said if words else "Python" not in said
        # With all CPUs taken by other processes no answer is the right answer.
        right = right or "cannot be told" in said
        row("interpreter lock", f"{label}: blamed rightly", 1, right, right - 1, 0)


def reading(quick: bool) -> None:
    """Bytes read, and the split of fetch, preparation and delivery."""
    import tensorflow as tf

    from cfgfix.measure import storage
    from cfgfix.measure.data import measure_differential, measure_rates
    from cfgfix.measure.data_profile import Plan
    from cfgfix.measure.sampling import iterate

    with tempfile.TemporaryDirectory(dir=".") as folder:
        names = []
        for place in range(24 if quick else 64):
            name = os.path.join(folder, f"{place}.bin")
            with open(name, "wb") as stream:
                stream.write(os.urandom(4 << 20))
                stream.flush()
                os.fsync(stream.fileno())
            names.append(name)

        def load(name):
            text = tf.io.read_file(name)
            return tf.cast(tf.strings.length(text), tf.int64)

        wait = sleeping(0.003)

        def make():
            return (
                tf.data.Dataset.from_tensor_slices(names)
                .map(load, synchronous=True)
                .map(wait, synchronous=True)
            )

        rates, _ = measure_rates(iterate(make(), batches=len(names) - 1))
        read = rates.read_per_batch or math.nan
        row("reading", "bytes per batch, MiB", 4, read / 2**20, 100 * (read / 2**22 - 1), 5, " %")
        files = storage.data_files(names)

        def by_hand() -> float:
            spent = []
            for evict in (True, False):
                if evict:
                    storage.evict(files)
                begin = time.perf_counter()
                for name in names:
                    with open(name, "rb", buffering=0) as stream:
                        stream.readall()
                spent.append(time.perf_counter() - begin)
            return (spent[0] - spent[1]) / len(names)

        before = by_hand()
        found = measure_differential(make, rates, Plan(batches=len(names) - 1, cold=True, pairs=5), files)
        truth = statistics.fmean((before, by_hand()))
        if found.fetch is not None:
            row(
                "reading",
                "cold less warm per 4 MiB, ms (by hand / tf.data)",
                truth * 1e3,
                found.fetch.value * 1e3,
                (found.fetch.value - truth) * 1e3,
                2,
                " ms",
            )
        if found.cold_cached_share is not None:
            row(
                "reading",
                "still cached in a cold run",
                0,
                100 * found.cold_cached_share,
                100 * found.cold_cached_share,
                5,
                " %",
            )

    spent: Spans = []

    def slow():
        return tf.data.Dataset.range(10**6).map(sleeping(0.01, spent), synchronous=True)

    rates, _ = measure_rates(iterate(slow(), batches=40))
    spent.clear()
    found = measure_differential(slow, rates, Plan(batches=40), ())
    value = found.preparation.value if found.preparation else math.nan
    truth = mean_of(spent)
    row(
        "reading",
        "preparation of 10 ms per batch",
        truth * 1e3,
        value * 1e3,
        100 * (value / truth - 1),
        15,
        " %",
    )


def service(quick: bool) -> None:
    """A tf.data service gives what it is fed: a source that cannot go faster through it."""
    import tensorflow as tf

    from cfgfix.measure.service import measure_service

    found = measure_service(
        lambda: tf.data.Dataset.range(10**6).map(computing(60)).batch(16).prefetch(2),
        workers=1,
        batches=40 if quick else 100,
        seconds=20,
    )
    print(
        f"  through a service with one worker {found['batches_per_second']:.3g} batches/s, without {found['alone_batches_per_second']:.3g}",
        flush=True,
    )
    refused = measure_service(
        lambda: tf.data.Dataset.range(10).map(sleeping(0.001)), workers=1, batches=10, seconds=5
    )
    row(
        "service",
        "Python stages refused with CLU008",
        1,
        float("CLU008" in refused.get("skipped", "")),
        float("CLU008" in refused.get("skipped", "")) - 1,
        0,
    )


# --- steps -----------------------------------------------------------------------------------------------------------


def pause(value, seconds, into: list[float] | None = None):
    import tensorflow as tf

    def wait(given):
        begin = time.perf_counter()
        time.sleep(seconds)
        if into is not None:
            into.append(time.perf_counter() - begin)
        return given

    made = tf.numpy_function(wait, [value], value.dtype)
    made.set_shape(value.shape)
    return made


PARTS_OF_A_STEP = ("forward", "loss", "backward", "optimizer")


def parts(quick: bool) -> None:
    """Forward, loss, backward and optimizer that each take a known time."""
    import tensorflow as tf

    from cfgfix.measure.step import measure
    from cfgfix.measure.step_profile import StepPlan

    took: dict[str, list[float]] = {name: [] for name in PARTS_OF_A_STEP}

    def make():
        weight = tf.Variable(tf.ones([8, 8]))

        @tf.custom_gradient
        def slow(value):
            def gradient(up):
                return pause(up, 0.020, took["backward"])

            return pause(value, 0.010, took["forward"]), gradient

        class Model:
            def __init__(self):
                self.trainable_variables = [weight]

            def __call__(self, value):
                return slow(tf.matmul(value, weight))

        def loss(target, output):
            # The sleep hangs on a constant copy, so that it is no part of the gradient.
            extra = pause(tf.stop_gradient(tf.reduce_sum(output)), 0.005, took["loss"])
            return tf.reduce_mean(tf.square(output - target)) + 0 * extra

        class Optimizer:
            def apply_gradients(self, pairs):
                for gradient, variable in pairs:
                    variable.assign_sub(0.001 * pause(gradient, 0.008, took["optimizer"]))

        return Model(), loss, Optimizer()

    def dataset():
        given = tf.data.Dataset.from_tensors((tf.ones([4, 8]), tf.zeros([4, 8]))).repeat()
        return given.map(lambda x, y: (pause(x, 0.004), y)).prefetch(1)

    found = measure(make, dataset, StepPlan(rounds=10 if quick else 25, steps=20, compare=False))
    truths = {name: 1e3 * statistics.median(took[name]) for name in PARTS_OF_A_STEP}
    for name, truth in truths.items():
        value = found.parts[name].value * 1e3
        row(
            "step parts",
            f"{name}, ms (share of the step)",
            truth,
            value,
            100 * (value - truth) / sum(truths.values()),
            5,
            " points",
        )
    row("step parts", "retraces", 0, len(found.traces), len(found.traces), 0)
    row(
        "step parts",
        "waiting for data that is prefetched, share",
        0,
        100 * found.data_share.value,
        100 * found.data_share.value,
        5,
        " points",
    )


def tracing(quick: bool) -> None:
    """Retraces with a known cause, and host syncs with a known number."""
    import tensorflow as tf

    from cfgfix.measure.step import measure
    from cfgfix.measure.step_profile import StepPlan

    plan = StepPlan(rounds=3 if quick else 10, steps=20, compare=False)

    def dataset():
        # Lengths 8, 9, 10, 8, 9, 10...: two retraces after the first trace.
        return tf.data.Dataset.range(10**6).map(lambda place: tf.ones([4, 8 + place % 3]))

    def by_shape():
        @tf.function
        def inner(values):
            return tf.reduce_sum(values)

        def train(batch):
            total = inner(batch)
            float(total)
            total.numpy()
            return total

        return train

    found = measure(by_shape, dataset, plan)
    row("retraces", "three shapes", 2, len(found.traces), len(found.traces) - 2, 0)
    named = sum(
        any(cause.startswith("values: float32[4,") for cause in trace.causes) for trace in found.traces
    )
    row("retraces", "with the argument named", 2, named, named - 2, 0)
    count = sum(sync.count for sync in found.syncs)
    row("host syncs", "float() and numpy() in each of 19 steps", 38, count, count - 38, 0)

    def by_value():
        @tf.function
        def inner(values, rate):
            return tf.reduce_sum(values) * rate

        state = {"step": 0}

        def train(batch):
            state["step"] += 1
            return inner(batch, state["step"] * 0.5)

        return train

    def fixed():
        return tf.data.Dataset.from_tensors(tf.ones([4, 8])).repeat()

    found = measure(by_value, fixed, plan)
    row(
        "retraces",
        "a Python number that changes in 20 steps",
        19,
        len(found.traces),
        len(found.traces) - 19,
        0,
    )
    named = sum(
        trace.kind == "python value" and trace.causes[0].startswith("rate:") for trace in found.traces
    )
    row("retraces", "with the argument named", 19, named, named - 19, 0)

    def steady():
        @tf.function
        def train(batch):
            return tf.reduce_sum(batch)

        return train

    found = measure(steady, fixed, plan)
    row("retraces", "none", 0, len(found.traces), len(found.traces), 0)


def overlap(quick: bool) -> None:
    """Busy shares and overlap of two-stage pipelines."""
    import tensorflow as tf

    from cfgfix.measure.devices import run_pipeline

    items = [tf.ones([2]) * place for place in range(60)]
    count = 25 if quick else 50
    for costs in ((0.02, 0.02), (0.01, 0.03)):
        spans: tuple[Spans, Spans] = ([], [])

        def stage(value, place, costs=costs, spans=spans):
            begin = time.perf_counter()
            time.sleep(costs[place])
            spans[place].append((begin, time.perf_counter()))
            return value

        found = run_pipeline(
            items,
            [("first", lambda value, f=stage: f(value, 0)), ("second", lambda value, f=stage: f(value, 1))],
            items=count,
        )
        # The calls of the run with both at once are the last ones; looked at on a fine grid of moments.
        last = [entry[-count:] for entry in spans]
        grid = np.linspace(min(entry[0][0] for entry in last), max(entry[-1][1] for entry in last), 100_000)
        busy = []
        for entry in last:
            begins, ends = np.array(entry).T
            busy.append(np.searchsorted(begins, grid, "right") > np.searchsorted(ends, grid, "right"))
        label = f"{costs[0] * 1e3:g} ms and {costs[1] * 1e3:g} ms"
        figures = [(f"stage {place + 1} busy", busy[place], found.busy[place]) for place in range(2)]
        for name, moments, value in [*figures, ("both at once", busy[0] & busy[1], found.together)]:
            truth = float(moments.mean())
            error = 100 * (value - truth)
            row("overlap", f"{label}: {name}", 100 * truth, 100 * value, error, 5, " points")


def oscillation_short(quick: bool) -> None:
    """False alarms, detection and period errors of the test at 50 batches."""
    oscillation(quick, (50,))


def oscillation_usual(quick: bool) -> None:
    """False alarms, detection and period errors of the test at 100 batches."""
    oscillation(quick, (100,))


def oscillation_long(quick: bool) -> None:
    """False alarms, detection and period errors of the test at 500 batches."""
    oscillation(quick, (500,))


PARTS = {
    "oscillation50": oscillation_short,
    "oscillation100": oscillation_usual,
    "oscillation500": oscillation_long,
    "steadiness": steadiness,
    "stages": stages,
    "periods": periods,
    "idle": idle,
    "cpus": cpus,
    "lock": lock,
    "reading": reading,
    "service": service,
    "parts": parts,
    "tracing": tracing,
    "overlap": overlap,
}


def main() -> None:
    arguments = sys.argv[1:]
    quick, strict = "--quick" in arguments, "--strict" in arguments
    chosen = [name for name in arguments if not name.startswith("--")] or list(PARTS)
    for name in chosen:
        begin = time.perf_counter()
        print(f"{name}: {PARTS[name].__doc__}", flush=True)
        PARTS[name](quick)
        print(f"  ({time.perf_counter() - begin:.0f} s)", flush=True)
    if "--markdown" in arguments:
        print("\n| part | figure | truth | found | error | limit |\n|---|---|---|---|---|---|")
        for entry in ROWS:
            print("| " + " | ".join(entry) + " |")
    print(f"{len(ROWS)} figures, {len(BAD)} beyond their limits" + (": " + "; ".join(BAD) if BAD else ""))
    sys.exit(1 if strict and BAD else 0)


if __name__ == "__main__":
    main()
