"""How wrong the instruments are: pipelines and steps whose truth is known, and the error of every figure.

    python benchmarks/instruments.py                 everything (some minutes)
    python benchmarks/instruments.py oscillation     one part
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


def oscillation(quick: bool) -> None:
    """False alarms, detection and period errors of the test."""
    repeats = {50: 100, 100: 100, 500: 40} if quick else {50: 500, 100: 400, 500: 200}
    for count, times in repeats.items():
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
            steady_state(np.where(index < 10, 3, 1) + 0.1 * random.standard_normal(count))
            for _ in range(times)
        ]
        cut = statistics.fmean(abs(found.start - 10) <= 2 for found in warm)
        row("steady state", f"warm-up of 10 cut within 2, {count}", 100, 100 * cut, 100 * cut - 100, 5, " %")
        drifting = statistics.fmean(
            not steady_state(1 + 0.5 * index / count + 0.1 * random.standard_normal(count)).steady
            for _ in range(times)
        )
        row("steady state", f"50 % drift found, {count}", 100, 100 * drifting, 100 * drifting - 100, 5, " %")


# --- pipelines -------------------------------------------------------------------------------------------------------


def sleeping(seconds: float) -> Callable:
    """An element function that sleeps: it waits, as for a disk, and lets others work."""
    import tensorflow as tf

    def wait(value):
        time.sleep(seconds)
        return value

    def stage(value):
        made = tf.numpy_function(wait, [value], tf.int64, stateful=False)
        made.set_shape([])
        return made

    return stage


def spinning(seconds: float) -> Callable:
    """An element function that holds the interpreter lock for so much CPU time of its thread."""
    import tensorflow as tf

    def spin(value):
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass
        return value

    def stage(value):
        made = tf.numpy_function(spin, [value], tf.int64, stateful=False)
        made.set_shape([])
        return made

    return stage


def computing(rounds: int) -> Callable:
    """An element function of TensorFlow operations."""
    import tensorflow as tf

    def stage(value):
        table = tf.fill([64, 64], tf.cast(value % 7, tf.float32))
        for _ in range(rounds):
            table = tf.matmul(table, table) * 1e-3
        return value + tf.cast(0 * tf.reduce_sum(table), tf.int64)

    return stage


def stages(quick: bool) -> None:
    """Shares of stages that sleep, spin, and compute."""
    import tensorflow as tf

    from cfgfix.measure.stages import measure_stages

    batches = 30 if quick else 60
    for label, first, second, calls in (
        ("sleep 3 ms, sleep 1 ms", sleeping(0.003), sleeping(0.001), (0.75, 0.25)),
        ("sleep 2 ms, hold the lock 2 ms", sleeping(0.002), spinning(0.002), (0.5, 0.5)),
        ("hold the lock 1 ms, sleep 4 ms", spinning(0.001), sleeping(0.004), (0.2, 0.8)),
    ):
        dataset = (
            tf.data.Dataset.range(10**6).map(first, synchronous=True).map(second, synchronous=True).batch(4)
        )
        found = [
            stage.share for stage in measure_stages(dataset, batches=batches) if stage.operation == "Map"
        ]
        for place, truth in enumerate(calls):
            row(
                "stage share",
                f"{label}: stage {place + 1}",
                truth * 100,
                found[place] * 100,
                100 * (found[place] - truth),
                5,
                " points",
            )
    parallel = (
        tf.data.Dataset.range(10**6)
        .map(sleeping(0.004), num_parallel_calls=4)
        .map(sleeping(0.001), synchronous=True)
        .batch(4)
    )
    found = [stage.share for stage in measure_stages(parallel, batches=batches) if "Map" in stage.operation]
    row(
        "stage share",
        "sleep 4 ms in parallel by 4, sleep 1 ms: stage 1",
        80,
        found[0] * 100,
        100 * (found[0] - 0.8),
        5,
        " points",
    )
    # What a computing stage costs alone is its truth beside a sleep; taken before and after, as the machine is shared.
    burn = computing(60)

    def alone() -> float:
        iterator = iter(tf.data.Dataset.range(10**6).map(burn, synchronous=True))
        next(iterator)
        spent = []
        for _ in range(200):
            begin = time.perf_counter()
            next(iterator)
            spent.append(time.perf_counter() - begin)
        return statistics.fmean(spent)

    pause = alone()
    before = alone()
    dataset = (
        tf.data.Dataset.range(10**6)
        .map(burn, synchronous=True)
        .map(sleeping(pause), synchronous=True)
        .batch(8)
    )
    found = [stage.share for stage in measure_stages(dataset, batches=batches) if stage.operation == "Map"]
    cost = (before + alone()) / 2
    truth = cost / (cost + pause)
    row(
        "stage share",
        "computing beside an equal sleep: stage 1",
        truth * 100,
        found[0] * 100,
        100 * (found[0] - truth),
        5,
        " points",
    )


def periods(quick: bool) -> None:
    """Periods of pipelines that stall every k batches, through the whole of `profile data`'s path."""
    import tensorflow as tf

    from cfgfix.measure.sampling import iterate

    for every, batches in ((8, 100), (20, 150), (25, 200)) if not quick else ((8, 100),):

        def stall(value, every=every):
            time.sleep(0.02 if int(value) % every == 0 else 0.003)
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
        row(
            "period",
            "  its height in ms",
            17,
            (found.amplitude or math.nan) * 1e3,
            (found.amplitude or math.nan) * 1e3 - 17,
            2,
            " ms",
        )


def idle(quick: bool) -> None:
    """Idle share of a device with a given step time."""
    import tensorflow as tf

    from cfgfix.measure.data import Plan, measure_consumer, measure_rates
    from cfgfix.measure.sampling import iterate

    for make, step, truth, label in (
        (
            lambda: tf.data.Dataset.range(10**6).map(sleeping(0.02)).prefetch(2),
            0.01,
            0.5,
            "20 ms per batch prefetched, step 10 ms",
        ),
        (
            lambda: tf.data.Dataset.range(10**6).map(sleeping(0.01)).prefetch(2),
            0.02,
            0.0,
            "10 ms per batch prefetched, step 20 ms",
        ),
        (
            lambda: tf.data.Dataset.range(10**6).map(sleeping(0.02), synchronous=True),
            0.02,
            0.5,
            "20 ms per batch, step 20 ms, nothing prefetched",
        ),
        (
            lambda: tf.data.Dataset.range(10**6).map(sleeping(0.01), synchronous=True),
            0.03,
            0.25,
            "10 ms per batch, step 30 ms, nothing prefetched",
        ),
        (
            lambda: tf.data.Dataset.range(10**6).map(spinning(0.015)).prefetch(2),
            0.01,
            1 / 3,
            "15 ms of the lock prefetched, step 10 ms",
        ),
    ):
        options = tf.data.Options()
        # TensorFlow puts a prefetch at the end of every pipeline by itself; without it there is no overlap to measure.
        options.experimental_optimization.inject_prefetch = False
        plan = Plan(batches=60 if quick else 150, seconds=20, step_seconds=step, trace=False)
        rates, _ = measure_rates(iterate(make().with_options(options), batches=40))
        found = measure_consumer(lambda make=make, options=options: make().with_options(options), rates, plan)
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

    dataset = tf.data.Dataset.range(10**6).map(spinning(0.005)).batch(4).prefetch(2)
    rates, _ = measure_rates(iterate(dataset, batches=50 if quick else 100))
    row(
        "CPU",
        "20 ms of CPU per batch",
        20,
        rates.cpu_per_batch * 1e3,
        100 * (rates.cpu_per_batch / 0.02 - 1),
        10,
        " %",
    )
    row(
        "CPU",
        "CPUs needed for a step of 5 ms",
        4,
        rates.cpu_per_batch / 0.005,
        100 * (rates.cpu_per_batch / 0.005 / 4 - 1),
        10,
        " %",
    )
    dataset = tf.data.Dataset.range(10**6).map(sleeping(0.005), synchronous=True).batch(4)
    rates, _ = measure_rates(iterate(dataset, batches=50 if quick else 100))
    row("CPU", "CPUs at work while a stage sleeps", 0, rates.cpus_busy, rates.cpus_busy, 0.15)


def reading(quick: bool) -> None:
    """Bytes read, and the split of fetch, preparation and delivery."""
    import tensorflow as tf

    from cfgfix.measure import storage
    from cfgfix.measure.data import Plan, measure_differential, measure_rates
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
            return tf.data.Dataset.from_tensor_slices(names).map(load).map(wait)

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

    def slow():
        return tf.data.Dataset.range(10**6).map(sleeping(0.01), synchronous=True)

    rates, _ = measure_rates(iterate(slow(), batches=40))
    found = measure_differential(slow, rates, Plan(batches=40), ())
    value = found.preparation.value if found.preparation else math.nan
    row("reading", "preparation of 10 ms per batch", 10, value * 1e3, 100 * (value / 0.01 - 1), 5, " %")


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


def pause(value, seconds):
    import tensorflow as tf

    def wait(given):
        time.sleep(seconds)
        return given

    made = tf.numpy_function(wait, [value], value.dtype)
    made.set_shape(value.shape)
    return made


def parts(quick: bool) -> None:
    """Forward, loss, backward and optimizer that each take a known time."""
    import tensorflow as tf

    from cfgfix.measure.step import StepPlan, measure

    def make():
        weight = tf.Variable(tf.ones([8, 8]))

        @tf.custom_gradient
        def slow(value):
            def gradient(up):
                return pause(up, 0.020)

            return pause(value, 0.010), gradient

        class Model:
            def __init__(self):
                self.trainable_variables = [weight]

            def __call__(self, value):
                return slow(tf.matmul(value, weight))

        def loss(target, output):
            # The sleep hangs on a constant copy, so that it is no part of the gradient.
            extra = pause(tf.stop_gradient(tf.reduce_sum(output)), 0.005)
            return tf.reduce_mean(tf.square(output - target)) + 0 * extra

        class Optimizer:
            def apply_gradients(self, pairs):
                for gradient, variable in pairs:
                    variable.assign_sub(0.001 * pause(gradient, 0.008))

        return Model(), loss, Optimizer()

    def dataset():
        given = tf.data.Dataset.from_tensors((tf.ones([4, 8]), tf.zeros([4, 8]))).repeat()
        return given.map(lambda x, y: (pause(x, 0.004), y)).prefetch(1)

    found = measure(make, dataset, StepPlan(rounds=10 if quick else 25, steps=20, compare=False))
    for name, truth in (("forward", 10), ("loss", 5), ("backward", 20), ("optimizer", 8)):
        value = found.parts[name].value * 1e3
        row(
            "step parts",
            f"{name}, ms (share of the step)",
            truth,
            value,
            100 * (value - truth) / 43,
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

    from cfgfix.measure.step import StepPlan, measure

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
    for first, second in ((0.02, 0.02), (0.01, 0.03)):
        found = run_pipeline(
            items,
            [
                ("first", lambda value, first=first: pause(value, first)),
                ("second", lambda value, second=second: pause(value, second)),
            ],
            items=count,
        )
        longest = max(first, second)
        total = count * longest + min(first, second)
        for place, cost in enumerate((first, second)):
            truth = count * cost / total
            row(
                "overlap",
                f"{first * 1e3:g} ms and {second * 1e3:g} ms: stage {place + 1} busy",
                100 * truth,
                100 * found.busy[place],
                100 * (found.busy[place] - truth),
                5,
                " points",
            )
        truth = (count - 1) * min(first, second) / total
        row(
            "overlap",
            f"{first * 1e3:g} ms and {second * 1e3:g} ms: both at once",
            100 * truth,
            100 * found.together,
            100 * (found.together - truth),
            5,
            " points",
        )


PARTS = {
    "oscillation": oscillation,
    "steadiness": steadiness,
    "stages": stages,
    "periods": periods,
    "idle": idle,
    "cpus": cpus,
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
