"""The text of a profile, from its JSON form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cfgfix.core.terminal import Paint, figure
from cfgfix.core.visible import visible_data
from cfgfix.core.wording import counted, times_as_fast

_STYLES = {"good": "good", "problem": "warning", "inconclusive": "info", "info": "dim"}
_BAR = 24
SMALL = 0.005
"""Share of a step's operations below which a layer is not shown."""
WORTH = 1.02
"""A gain below this is not told."""
_PHASES = {
    "start": " (before an epoch's first batch)",
    "once": " (in the first epoch alone: a cache keeps it)",
}


def render(data: Mapping[str, Any], paint: Paint) -> str:
    """Return a profile as text."""
    data = visible_data(data)
    body = {"data": _data_lines, "step": _step_lines, "devices": _device_lines, "run": _run_lines}[
        data["kind"]
    ]
    lines = [
        *body(data, paint),
        *_limit_lines(data, paint),
        *_note_lines(data, paint),
        *_verdict_lines(data, paint),
    ]
    return "\n".join(lines) + "\n"


def _milliseconds_text(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 10 else f"{seconds:.3g} s"


def _row_text(name: str, text: str) -> str:
    return f"  {name:<22} {text}"


def _interval_text(entry: Mapping[str, float], scale: float = 1.0, form: str = ".3g") -> str:
    return f"{entry['value'] * scale:{form}} (95 %: {entry['low'] * scale:{form}} to {entry['high'] * scale:{form}})"


def _share_text(entry: Mapping[str, float]) -> str:
    return f"{entry['value']:.1%} (95 %: {entry['low']:.1%} to {entry['high']:.1%})"


def _bytes_text(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.3g} {unit}"
        count /= 1000
    return ""


def _amount_text(value: float, unit: str) -> str:
    """Return a reading as text, in a unit that suits its size."""
    if unit.startswith("bytes"):
        return _bytes_text(value) + unit.removeprefix("bytes")
    return f"{figure(value)} {unit}"


def _spread_text(summary: Mapping[str, Any]) -> str:
    return f"median {_milliseconds_text(summary['median'])}, mean {_milliseconds_text(summary['mean'])}, p95 {_milliseconds_text(summary['p95'])}, p99 {_milliseconds_text(summary['p99'])}, robust spread {_milliseconds_text(summary['robust_std'])}"


def _bar_text(share: float) -> str:
    return "#" * max(0, min(_BAR, round(share * _BAR)))


def _data_lines(data: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    rates = data["rates"]
    yield paint("bold", f"dataset: {data['source']}")
    strings = ", strings not counted" if rates["has_strings"] else ""
    yield _row_text(
        "throughput",
        f"{figure(rates['samples_per_second'])} samples/s, {figure(rates['batches_per_second'])} batches/s, {_bytes_text(rates['bytes_per_second'])}/s{strings}",
    )
    yield _row_text("per batch", _spread_text(rates["batch_seconds"]))
    yield _row_text(
        "start",
        f"first batch after {_milliseconds_text(rates['build'] + rates['first_element'])}; {rates['steady']['reason']}",
    )
    yield _row_text(
        "CPU",
        f"{_milliseconds_text(rates['cpu_per_batch'])} per batch, {rates['cpus_busy']:.2g} CPUs at work, {rates['cpus_elsewhere']:.2g} for other processes",
    )
    if rates["read_per_batch"] is not None:
        yield _row_text(
            "read",
            f"{_bytes_text(rates['read_per_batch'])} per batch, {_bytes_text(rates['storage_per_batch'])} of it from storage",
        )
    if rates["restarts"]:
        yield _row_text("ends", f"the dataset ended and was started anew {rates['restarts']} times")
    if data["stages"]:
        yield paint("bold", "time inside each stage, per batch")
        for stage in data["stages"]:
            name = f"{stage['operation']}({stage['function']})" if stage["function"] else stage["operation"]
            calls = f"x{stage['parallelism']}{' auto' if stage['autotuned'] else ''}"
            if stage.get("at_once", stage["parallelism"]) < stage["parallelism"]:
                calls += f", {stage['at_once']} at once"
            python = (" Python" if stage["python"] else "") + _PHASES.get(stage.get("phase", ""), "")
            yield f"  {name:<30} {_milliseconds_text(stage['seconds_per_batch']):>9} {stage['share']:>6.1%} {calls:<8} {_bar_text(stage['share'])}{python}"
    pace = data.get("pace")
    if pace is not None:
        yield _row_text(
            "of a batch's time",
            f"{_milliseconds_text(pace['measured'])}, the slowest part explains {_milliseconds_text(min(pace['predicted'], pace['measured']))}, no stage {_milliseconds_text(pace['hole'])}",
        )
    start = data.get("epoch_start")
    if start is not None:
        batches = f", {start['batches']} batches long" if start["batches"] else ""
        yield _row_text(
            "each epoch",
            f"starts with {_milliseconds_text(start['seconds'])} more than another batch{batches}",
        )
    lock = data["interpreter_lock"]
    if lock is not None:
        yield _row_text(
            "interpreter lock",
            f"held by the pipeline's Python {lock['low']:.0%} to {lock['high']:.0%} of the time",
        )
    parts = data["differential"]
    if parts is not None:
        yield paint("bold", "what a batch's time goes to, by leaving parts out")
        yield _row_text(
            "delivery",
            _milliseconds_text(parts["delivery"]) if parts["delivery"] is not None else "not measured",
        )
        yield _row_text(
            "preparation",
            _interval_text(parts["preparation"], 1e3) + " ms" if parts["preparation"] else "not measured",
        )
        yield _row_text(
            "fetch (cold files)",
            _interval_text(parts["fetch"], 1e3)
            + f" ms; {parts['files']} files, {_bytes_text(parts['bytes'])}"
            if parts["fetch"]
            else "not measured",
        )
        for note in parts["notes"]:
            yield _row_text("", note)
    consumer = data["consumer"]
    if consumer is not None:
        yield paint(
            "bold", f"with a device that needs {_milliseconds_text(consumer['step_seconds'])} per batch"
        )
        yield _row_text(
            "device idle",
            f"{_share_text(consumer['idle_share'])}; with perfect overlap {consumer['predicted_idle_share']:.1%}",
        )
    feeding = data["feeding"]
    if feeding is not None:
        yield _row_text("CPUs needed", f"{feeding['cpus_needed']:.2f} of {feeding['cpus_usable']} usable")
    service = data["service"]
    if service and "skipped" not in service:
        yield _row_text(
            "tf.data service",
            f"{figure(service['batches_per_second'])} batches/s with {service['workers']} workers on this machine, {figure(service['alone_batches_per_second'])} without",
        )
    for cause in data["causes"]:
        yield _row_text(f"every {cause['interval']:.4g}", f"{cause['name']}: {cause['note']}")


def _step_lines(data: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    yield paint("bold", f"step: {data['source']} on {', '.join(data['devices'])}")
    yield _row_text("whole step", _spread_text(data["step_seconds"]))
    for name, part in data["parts"].items():
        yield _row_text(f"  {name}", _interval_text(part, 1e3) + " ms")
    yield _row_text("compile", _milliseconds_text(data["compile_seconds"]))
    yield _row_text(
        "loop", f"{_spread_text(data['loop_seconds'])}; {figure(data['samples_per_second'])} samples/s"
    )
    yield _row_text(
        "waiting for data",
        f"{_share_text(data['data_share'])}, {_milliseconds_text(data['data_seconds']['mean'])} per step",
    )
    yield _row_text("retraces", f"{len(data['retraces'])} in {counted(data['watched_steps'], 'step')}")
    yield _row_text(
        "host syncs",
        f"{sum(sync['count'] for sync in data['host_syncs'])} in {counted(max(data['watched_steps'] - 1, 0), 'step')}",
    )
    for entry in data["comparisons"]:
        text = (
            f"time with / without: {_interval_text(entry['ratio'], 1, '.3f')}"
            if entry["ratio"]
            else f"does not run: {entry['failed']}"
        )
        yield _row_text(entry["name"], text)
    for device, size in data["peak_bytes"].items():
        yield _row_text(
            f"peak memory {device}", _bytes_text(size) + _last_rise(device, data["peak_bytes_by_step"])
        )
    yield from _operation_lines(data["operations"])


def _last_rise(device: str, steps: Sequence[Mapping[str, float]]) -> str:
    """Return text on the watched step in which the memory peak last rose.

    Empty where it did not rise.
    """
    sizes = [entry[device] for entry in steps if device in entry]
    rises = [place for place in range(1, len(sizes)) if sizes[place] > 1.01 * sizes[place - 1]]
    return f"; the last rise in step {rises[-1] + 1} of {len(sizes)}" if rises else ""


def _operation_lines(data: Mapping[str, Any]) -> Iterator[str]:
    layers = [entry for entry in data["layers"] if entry["share"] >= SMALL]
    if layers:
        yield "time of the layers, per step and all threads"
    for entry in layers:
        both = f"forward {_milliseconds_text(entry['forward'])}, backward {_milliseconds_text(entry['backward'])}"
        text = (
            both
            if entry["layer"]
            else _milliseconds_text(entry["forward"] + entry["backward"]) + ", no layer"
        )
        yield f"  {entry['share']:>6.1%}  {entry['name']}: {text}"
    if data["operations"]:
        yield "time of the operations"
    for entry in data["operations"]:
        yield f"  {entry['share']:>6.1%}  {entry['kind']} ({entry['name']}): {_milliseconds_text(entry['seconds'])}"


_SHARES = {
    "wait": "waiting for data",
    "call": "compiled functions",
    "trace": "tracing, compiling",
    "python": "Python between",
    "evaluation": "evaluation",
    "epochs": "starts of epochs",
}


def _run_lines(data: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    loop = data["loop"]
    what = "model.fit" if loop["kind"] == "fit" else "the loop"
    yield paint("bold", f"run: {data['source']}, {what} at {loop['place']}")
    yield _row_text(
        "step",
        f"{_spread_text(data['step_seconds'])}; {counted(data['steps'], 'step')} after {data['warmup']} to warm up",
    )
    if data["samples_per_second"]:
        yield _row_text("throughput", f"{figure(data['samples_per_second'])} samples/s")
    yield paint("bold", "what the run went to")
    for name, text in _SHARES.items():
        share = data["shares"].get(name, 0.0)
        if share >= 0.005 or name in ("wait", "call"):
            yield f"  {text:<22} {share:>6.1%} {_bar_text(share)}"
    for part in data["parts"][:5]:
        if part["share"] >= 0.01:
            place = f" ({part['place']})" if part["place"] else ""
            yield f"    {part['share']:>6.1%} {_milliseconds_text(part['seconds'])} a step: {part['who']}{place}"
    for entry in data["loops"]:
        if entry["steps"] and (entry["place"] != loop["place"] or entry["kind"] != loop["kind"]):
            yield _row_text("also", f"{entry['kind']} at {entry['place']}: {counted(entry['steps'], 'step')}")
    cpus = data["cpus"]
    yield _row_text(
        "CPUs",
        f"{cpus['busy']:.2g} of {cpus['usable']} at work for this program, {cpus['elsewhere']:.2g} for other processes",
    )
    for device in data.get("device_memory", ()):
        sizes = [_bytes_text(device[name]) for name in ("first", "last", "peak")]
        yield _row_text(f"memory {device['name']}", "{} at first, {} at last, {} at most".format(*sizes))
    if data["data"]:
        yield from _data_lines(data["data"], paint)


def _device_lines(data: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    yield paint("bold", f"devices: {data['gpu']}")
    for device in data["devices"]:
        facts = ", ".join(f"{name} {value}" for name, value in device["facts"].items())
        yield _row_text(
            f"{device['kind']} {device['index']}", f"{device['name']}" + (f" ({facts})" if facts else "")
        )
        for series in device["series"]:
            summary = series["summary"]
            if summary:
                median, least, most = (
                    _amount_text(summary[key], series["unit"]) for key in ("median", "min", "max")
                )
                yield f"    {series['name']:<18} median {median}, {least} to {most}, {summary['count']} readings ({series['source']})"
    for line in data["topology"]:
        yield _row_text("topology", line)
    pipeline = data["pipeline"]
    if pipeline is not None:
        yield paint("bold", f"pipeline: {counted(pipeline['items'], 'item')} in {pipeline['seconds']:.3g} s")
        for name, share in zip(pipeline["stages"], pipeline["busy_share"], strict=True):
            yield _row_text(name, f"busy {share:.1%} {_bar_text(share)}")
        yield _row_text(
            "at once",
            f"{pipeline['overlap_share']:.1%}; none {pipeline['idle_share']:.1%}; {times_as_fast(pipeline['speedup'])} as one after the other",
        )


def _limit_lines(data: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    if data["older_limits"]:
        yield paint("bold", "what the older tools' limits would say (beside the figures, no verdict)")
    for limit in data["older_limits"]:
        yield (
            f"  {limit['figure']} = {limit['value']:.3g} {limit['unit']}".rstrip()
            + f": {limit['reading']} ({limit['limits']}; {limit['source']})"
        )
        if limit["caution"]:
            yield f"    but {limit['caution']}"


def _note_lines(data: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    for note in data["notes"]:
        yield paint("dim", f"note: {note}")


def _verdict_lines(data: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    yield paint("bold", "verdicts")
    for verdict in data["verdicts"]:
        rules = ", ".join(f"{rule['id']} {rule['name']}" for rule in verdict["rules"])
        yield (
            f"  {paint(_STYLES[verdict['outcome']], verdict['outcome'])}: {verdict['name']}: {verdict['summary']}"
            + (f" [{rules}]" if rules else "")
        )
        for text in verdict["evidence"]:
            if text:
                yield f"      {text}"
        if verdict["change"]:
            yield f"    change: {verdict['change']}"
        if verdict.get("worth") and verdict["worth"] >= WORTH and verdict["outcome"] == "problem":
            yield f"    worth: x {verdict['worth']:.2g} at most"
        for text in verdict["fixes"]:
            yield f"    fix: {text}"
