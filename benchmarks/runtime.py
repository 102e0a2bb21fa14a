"""Before and after: what the runtime of cfgfix.tf is worth, each part against its plain counterpart, in one run.

    python benchmarks/runtime.py                   everything (some minutes)
    python benchmarks/runtime.py cache devices     some parts: cache speech devices callbacks workers
    python benchmarks/runtime.py --record          everything; also write benchmarks/results/runtime.json and the figures in
                                                   docs/runtime.md

Variants run in turn, round by round. The ratio that counts is the median over rounds of neighbours' ratios; seconds are
those of the fastest round, for other work on a machine only ever makes a run longer. `ROUNDS=9` repeats more often.
Needs the extra `tf`; speech needs espeak-ng, and is compared with librosa where that is installed.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import runtime_functions as work

ROUNDS = int(os.environ.get("ROUNDS", "5"))
RESULTS = ROOT / "benchmarks" / "results" / "runtime.json"
PAGE = ROOT / "docs" / "runtime.md"
SENTENCES = 13_100
CLIPS = 96
Row = dict[str, Any]


def in_turn(variants: dict[str, Callable[[], float | None]], rounds: int = ROUNDS) -> dict[str, Row]:
    """Run variants in turn; a variant may return its own seconds. The first one is what the others are compared with."""
    times: dict[str, list[float]] = {name: [] for name in variants}
    for number in range(rounds):
        for name in variants if number % 2 == 0 else list(variants)[::-1]:
            start = time.perf_counter()
            own = variants[name]()
            times[name].append(time.perf_counter() - start if own is None else own)
    base = next(iter(times.values()))
    return {
        name: {
            "seconds": round(min(values), 4),
            "times_as_fast": round(
                statistics.median(first / value for first, value in zip(base, values, strict=True)), 2
            ),
        }
        for name, values in times.items()
    }


def show(title: str, rows: dict[str, Row]) -> None:
    print(f"\n{title}")
    for name, row in rows.items():
        print(f"  {name:52s} " + "  ".join(f"{key} {value}" for key, value in row.items()), flush=True)


def cache() -> dict[str, Any]:
    """Start-up with and without the text cache."""
    from cfgfix.tf.text_cache import TextCache

    found: dict[str, Any] = {}
    jobs: list[tuple[str, Callable[[str], Any], int, int]] = [
        ("byte-pair tokens in plain Python", work.tokenize, SENTENCES, ROUNDS)
    ]
    if work.ESPEAK:
        # A process for each sentence takes minutes for all of them, so these are fewer.
        jobs.append(("phonemes by espeak-ng", work.phonemes, 400, 2))
    for name, function, count, rounds in jobs:
        texts = work.sentences(count)
        ways: list[str] = []
        with tempfile.TemporaryDirectory() as folder:
            numbers = iter(range(10_000))
            last = [""]

            def serial(texts: list[str] = texts, function: Callable[[str], Any] = function) -> None:
                for text in texts:
                    function(text)

            def first(
                texts: list[str] = texts,
                function: Callable[[str], Any] = function,
                folder: str = folder,
                ways: list[str] = ways,
                numbers: Any = numbers,
                last: list[str] = last,
            ) -> float:
                last[0] = os.path.join(folder, str(next(numbers)))
                report = TextCache(last[0]).tokens(texts, function).report
                assert report.hits == 0
                ways.append(
                    f"{report.way.mode}, {report.way.workers + (report.way.mode == 'processes')} at once"
                    if report.way
                    else ""
                )
                return report.seconds

            def second(
                texts: list[str] = texts, function: Callable[[str], Any] = function, last: list[str] = last
            ) -> float:
                report = TextCache(last[0]).tokens(texts, function).report
                assert report.hits == len(texts)
                return report.seconds

            first()  # so that a second run has something to read in the round that begins with it
            rows = in_turn({"serial, no cache": serial, "first run": first, "second run": second}, rounds)
            size = sum(path.stat().st_size for path in Path(last[0]).rglob("*") if path.is_file())
        rows["second run"]["times_as_fast_as_first"] = round(
            rows["first run"]["seconds"] / rows["second run"]["seconds"], 1
        )
        found[name] = {"sentences": count, "way": max(ways, key=ways.count), "bytes": size, "rows": rows}
        show(f"{count} sentences, {name} ({max(ways, key=ways.count)})", rows)
    texts = work.sentences(SENTENCES)
    for name, text_function in (("normalized", work.normalize), ("language", work.language)):
        with tempfile.TemporaryDirectory() as folder:
            text_cache = TextCache(folder)
            text_cache.strings(texts, text_function, kind=name)

            def plain(text_function: Callable[[str], str] = text_function) -> None:
                for text in texts:
                    text_function(text)

            def cached(
                text_cache: TextCache = text_cache,
                text_function: Callable[[str], str] = text_function,
                name: str = name,
            ) -> None:
                assert text_cache.strings(texts, text_function, kind=name)[1].hits == len(texts)

            rows = in_turn({"serial, no cache": plain, "second run": cached})
        found[name] = {"sentences": SENTENCES, "rows": rows}
        show(f"{SENTENCES} sentences, {name}", rows)
    return found


def speak(folder: Path) -> list[str]:
    paths = []
    for index, text in enumerate(work.sentences(CLIPS, seed=3)):
        path = folder / f"{index:04}.wav"
        subprocess.run([str(work.ESPEAK), "-w", str(path), text], check=True)
        paths.append(str(path))
    return paths


def speech() -> dict[str, Any]:
    """Batches of log-mel spectrograms: one file after the other in Python, against TensorFlow's operations."""
    if not work.ESPEAK:
        print("speech: espeak-ng is not on this machine")
        return {}
    import wave

    import numpy as np
    import tensorflow as tf

    from cfgfix.tf import MelSettings, features_from_wav, optimize, precomputed

    one = MelSettings()
    size, frames = 8, 800
    config = {"batch_size": size, "prefetch": -1, "workers": -1}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        paths = speak(place)
        seconds = sum(os.path.getsize(path) - 44 for path in paths) / 2 / 22050

        def read(path: bytes) -> Any:
            with wave.open(path.decode()) as stream:
                return np.frombuffer(stream.readframes(stream.getnframes()), "<i2").astype(np.float32) / 32768

        def consume(data: Any) -> float:
            """Take every batch, and tell how long that took; building the pipeline counts, tracing it does not."""
            count = 0
            start = time.perf_counter()
            for batch in data:
                mel = batch["mel"]
                count += int(mel.shape[0])
            assert count == len(paths), count
            return time.perf_counter() - start

        variants: dict[str, Callable[[], float | None]] = {}
        try:
            import librosa
        except ImportError:
            print("  librosa is not installed: the sequential Python pipeline is left out")
        else:

            def mel_of(path: bytes) -> Any:
                energies = librosa.feature.melspectrogram(
                    y=read(path), sr=22050, n_fft=one.n_fft, hop_length=one.hop_length, n_mels=one.n_mels, power=1.0
                )  # fmt: skip
                made = np.full((frames, one.n_mels), np.log(one.floor), np.float32)
                mel = np.log(np.maximum(energies.T, one.floor))[:frames]
                made[: len(mel)] = mel
                return made

            def load(path: Any) -> Any:
                mel = tf.ensure_shape(tf.numpy_function(mel_of, [path], tf.float32), [frames, one.n_mels])
                return {"mel": mel}

            source = tf.data.Dataset.from_tensor_slices(paths)
            sequential = source.map(load).batch(size)
            variants["librosa in numpy_function, one after the other"] = lambda: consume(sequential)
            calls = (
                source.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(size).prefetch(tf.data.AUTOTUNE)
            )
            variants["the same with parallel calls and prefetch"] = lambda: consume(calls)
        plain = features_from_wav(paths, one, max_frames=frames, too_long="cut", workers=1).batch(size)
        variants["TensorFlow operations, one after the other"] = lambda: consume(plain)
        ready = optimize(
            features_from_wav(paths, one, config, max_frames=frames, too_long="cut"), config, batch=True
        )
        variants["TensorFlow operations, optimize()"] = lambda: consume(ready)

        def build() -> Any:
            return features_from_wav(paths, one, max_frames=frames, too_long="cut")

        store = place / "features"
        precomputed(build, store, settings=one.as_dict(), inputs=paths)
        again = precomputed(build, store, settings=one.as_dict(), inputs=paths)
        stored = optimize(again.dataset(), config, batch=True)
        variants["precomputed features, optimize()"] = lambda: consume(stored)
        for variant in variants.values():
            variant()
        rows = in_turn(variants)
        for row in rows.values():
            row["clips_per_second"] = round(len(paths) / row["seconds"], 1)

        def fresh() -> float:
            start = time.perf_counter()
            made = precomputed(build, place / str(time.monotonic_ns()), settings=one.as_dict(), inputs=paths)
            next(iter(made.dataset().batch(size)))
            return time.perf_counter() - start

        def found_again() -> float:
            start = time.perf_counter()
            made = precomputed(build, store, settings=one.as_dict(), inputs=paths)
            assert not made.built
            next(iter(made.dataset().batch(size)))
            return time.perf_counter() - start

        starts = in_turn(
            {"computing the features first": fresh, "features found": found_again}, min(ROUNDS, 3)
        )
    title = f"{len(paths)} clips of espeak-ng speech ({seconds:.0f} s), batches of {size} x {frames} x {one.n_mels}"
    show(title, rows)
    show("start-up to the first batch", starts)
    return {
        "clips": len(paths),
        "audio_seconds": round(seconds),
        "rows": rows,
        "start_up": starts,
    }


DEVICES = """
import json, sys, time
from cfgfix.tf import DevicePipeline, configure
configure({}, intra_op_threads=2, inter_op_threads=2, cpu_devices=2)  # the devices share one pool of threads
import tensorflow as tf

def worker(device, count):
    with tf.device(device):
        matrix = tf.random.normal([384, 384])
    @tf.function(reduce_retracing=True)
    def run(value):
        made = matrix + value
        for _ in range(count):
            made = tf.tanh(made @ matrix)
        return tf.reduce_sum(made)
    return run

def waiter(device):
    def wait(value):
        time.sleep(0.02)
        return value
    def run(value):
        with tf.device(device):
            return tf.py_function(wait, [value], tf.float32)
    return run

kind = waiter if sys.argv[2] == "wait" else lambda device: worker(device, 12)
prepare, step = kind("CPU:0"), kind("CPU:1")
source = [tf.constant(float(index)) for index in range(60)]
pipeline = DevicePipeline(source, prepare, prepare_device="CPU:0", step_device="CPU:1")
_, ((_, prepared), (_, stepped)) = pipeline.parts(step)
for item in source[:3]:
    stepped(prepared(item))
rows = []
for _ in range(int(sys.argv[1])):
    start = time.perf_counter()
    for item in source:
        prepared(item).numpy()
    preparing = time.perf_counter() - start
    values = [prepared(item) for item in source]
    start = time.perf_counter()
    for value in values:
        stepped(value).numpy()
    steps = time.perf_counter() - start
    start = time.perf_counter()
    for item in source:
        stepped(prepared(item)).numpy()
    turns = time.perf_counter() - start
    fresh = DevicePipeline(source, prepare, prepare_device="CPU:0", step_device="CPU:1")
    start = time.perf_counter()
    report = fresh.run(lambda value: step(value).numpy())
    both = time.perf_counter() - start
    rows.append({"prepare": preparing, "step": steps, "turns": turns, "both": both, "overlap": report.overlap})
print(json.dumps(rows))
"""


def devices() -> dict[str, Any]:
    """Preparing on one logical CPU device during the step on the other: wall time against the longer one and the sum."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""}
    found: dict[str, Any] = {"batches": 60}
    for name, kind in (
        ("work that waits, as a host does for a GPU", "wait"),
        ("work that computes", "compute"),
    ):
        command = [sys.executable, "-c", DEVICES, str(ROUNDS), kind]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        rounds = json.loads(done.stdout.splitlines()[-1])
        best = {key: min(row[key] for row in rounds) for key in ("prepare", "step", "turns", "both")}
        found[name] = {
            **{f"{key}_seconds": round(value, 3) for key, value in best.items()},
            "wall_over_longer": round(best["both"] / max(best["prepare"], best["step"]), 2),
            "wall_over_sum": round(best["both"] / (best["prepare"] + best["step"]), 2),
            "overlap": round(statistics.median(row["overlap"] for row in rounds), 2),
        }
        show("two logical CPU devices, 60 batches", {name: found[name]})
    return found


def callbacks() -> dict[str, Any]:
    """What recording costs, as a share of a step of 10 ms."""
    import tensorflow as tf

    from cfgfix.tf.callbacks import StepRecorder, keras_callback, overhead, watch_data

    step = 0.010
    found: dict[str, Any] = {"step_ms": step * 1e3}
    rows: dict[str, Row] = {}
    for name, make in (("StepRecorder", StepRecorder), ("StepRecorder with TensorBoard", None)):
        shares = []
        for _ in range(ROUNDS):
            with tempfile.TemporaryDirectory() as folder:
                chosen = make or (lambda folder=folder: StepRecorder(log_dir=folder))
                shares.append(overhead(step, 2000, chosen))
        rows[name] = {"share_percent": round(100 * min(shares), 3)}

    callback = keras_callback(warmup=0)
    costs = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for index in range(2000):
            callback.on_train_batch_begin(index)
            callback.on_train_batch_end(index)
        costs.append((time.perf_counter() - start) / 2000)
    rows["keras_callback"] = {"share_percent": round(100 * min(costs) / step, 3)}

    count = 4000
    plain = tf.data.Dataset.range(count).prefetch(2)
    watched, _ = watch_data(tf.data.Dataset.range(count).prefetch(2))

    @tf.function
    def drain(data: Any) -> Any:
        return data.reduce(tf.constant(0, tf.int64), lambda total, value: total + value)

    drain(plain), drain(watched)
    bare, clocked = [], []
    for _ in range(ROUNDS * 3):
        start = time.perf_counter()
        drain(plain)
        between = time.perf_counter()
        drain(watched)
        bare.append(between - start)
        clocked.append(time.perf_counter() - between)
    cost = max(0.0, min(clocked) - min(bare)) / count
    rows["watch_data, for each batch"] = {"share_percent": round(100 * cost / step, 3)}
    found["rows"] = rows
    show("recording, as a share of a step of 10 ms", rows)
    return found


def workers() -> dict[str, Any]:
    """From starting a worker process to its first result."""
    from cfgfix.tf import parallel

    times = []
    for _ in range(ROUNDS * 2):
        start = time.perf_counter()
        with parallel._worker_process() as process:
            parallel._send_object(process.stdin, work.tokenize)
            parallel._send_object(process.stdin, ["a"])
            assert parallel._receive_object(process.stdout)[0]
            times.append(time.perf_counter() - start)
    found = {"first_result_seconds": round(statistics.median(times), 3)}
    show("a worker process", {"first result": found})
    return found


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "cache": cache,
    "speech": speech,
    "devices": devices,
    "callbacks": callbacks,
    "workers": workers,
}


def machine() -> dict[str, Any]:
    import numpy as np
    import tensorflow as tf

    from cfgfix.hardware.cpu import read_cpu

    usable = read_cpu("/", os.environ).cpu.usable.value
    return {
        "cpus": usable,
        "gpus": len(tf.config.list_physical_devices("GPU")),
        "python": platform.python_version(),
        "tensorflow": tf.__version__,
        "numpy": np.__version__,
        "rounds": ROUNDS,
        "load": round(os.getloadavg()[0], 1),
    }


BEGIN, END = "<!-- figures: python benchmarks/runtime.py --record -->", "<!-- end of figures -->"


def render(data: dict[str, Any]) -> str:
    """Return the figures as the page shows them."""
    where = data["machine"]
    lines = [
        (
            f"One run on {where['cpus']:g} CPUs and {where['gpus'] or 'no'} GPU, Python {where['python']}, TensorFlow"
            f" {where['tensorflow']}, {where['rounds']} rounds. Seconds are the fastest round's; ratios are medians of rounds (of two devices and recording: of the fastest). Other work was on the machine:"
            f" a load of {where['load']:g} when the run began."
        ),
        "",
        "**Text cache: start-up with and without it**",
        "",
        "| work | sentences | serial, no cache | first run | second run | first against serial | second against first |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, part in data["cache"].items():
        rows = part["rows"]
        first = rows.get("first run")
        second = rows["second run"]
        lines.append(
            f"| {name} | {part['sentences']:,} | {rows['serial, no cache']['seconds']:.3g} s"
            f" | {_seconds(first)} | {_seconds(second)}"
            + (f" | {first['times_as_fast']:.2f}x | {second['times_as_fast_as_first']:.0f}x |" if first else f" | | {second['times_as_fast']:.1f}x (against serial) |")
        )  # fmt: skip
    lines += [
        "",
        *(f"First run of {name}: {part['way']}." for name, part in data["cache"].items() if "way" in part),
    ]
    sound = data["speech"]
    lines += [
        "",
        f"**Input pipeline: {sound['clips']} clips, {sound['audio_seconds']} s of espeak-ng speech to padded log-mel batches**",
        "",
        "| pipeline | clips a second | times as fast |",
        "|---|---|---|",
        *(
            f"| {name} | {row['clips_per_second']:.0f} | {row['times_as_fast']:.2f} |"
            for name, row in sound["rows"].items()
        ),
        "",
        "| start-up to the first batch | seconds | times as fast |",
        "|---|---|---|",
        *(
            f"| {name} | {row['seconds']:.3g} | {row['times_as_fast']:.1f} |"
            for name, row in sound["start_up"].items()
        ),
    ]
    sides = {name: row for name, row in data["devices"].items() if name != "batches"}
    lines += [
        "",
        f"**Two devices: {data['devices']['batches']} batches on two logical CPU devices**",
        "",
        "| | preparing alone | steps alone | taking turns | at once | wall over longer side | wall over sum | preparing during a step |",
        "|---|---|---|---|---|---|---|---|",
        *(
            f"| {name} | {row['prepare_seconds']:.2f} s | {row['step_seconds']:.2f} s | {row['turns_seconds']:.2f} s"
            f" | {row['both_seconds']:.2f} s | {row['wall_over_longer']:.2f} | {row['wall_over_sum']:.2f} | {row['overlap']:.0%} |"
            for name, row in sides.items()
        ),
        "",
        f"**Recording, as a share of a step of {data['callbacks']['step_ms']:g} ms**",
        "",
        "| recorder | share |",
        "|---|---|",
        *(f"| {name} | {row['share_percent']:.2f} % |" for name, row in data["callbacks"]["rows"].items()),
        "",
        f"A worker process gives its first result after {data['workers']['first_result_seconds']:.2f} s.",
    ]
    return "\n".join(lines) + "\n"


def _seconds(row: Row | None) -> str:
    return "" if row is None else f"{row['seconds']:.3g} s"


def replaced(page: str, figures: str) -> str:
    """Return the page with the figures between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{figures}\n{END}{after}"


def main() -> None:
    names = [name for name in sys.argv[1:] if name != "--record"]
    unknown = set(names) - set(PARTS)
    if unknown:
        sys.exit(f"there are no parts {', '.join(sorted(unknown))}: {', '.join(PARTS)}")
    record = "--record" in sys.argv
    if record and names:
        sys.exit("what is recorded is measured in one run: leave the parts out")
    chosen = list(PARTS) if record or not names else names
    found: dict[str, Any] = {"machine": machine()}
    for name in chosen:
        found[name] = PARTS[name]()
    if record:
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), render(found)), encoding="utf-8")


if __name__ == "__main__":
    main()
