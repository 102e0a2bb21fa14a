"""Summaries of a profile that TensorBoard shows: series as scalars, verdicts as text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from cfgfix.measure.sampling import Progress


def scalars(data: Mapping[str, Any]) -> Iterator[tuple[str, int, float]]:
    """Yield tag, step and value of each point of a profile in its JSON form."""
    kind = data.get("kind", "search")
    if kind == "data":
        for step, value in enumerate(data["series"]):
            yield "data/batch_ms", step, value * 1e3
        for name in ("samples_per_second", "batches_per_second", "cpus_busy"):
            yield f"data/{name}", 0, data["rates"][name]
        for stage, entry in enumerate(data["stages"]):
            yield f"data/stage_ms/{stage:02}_{entry['operation']}", 0, entry["seconds_per_batch"] * 1e3
        if data["consumer"]:
            yield "data/idle_share", 0, data["consumer"]["idle_share"]["value"]
    elif kind == "step":
        for name, part in data["parts"].items():
            yield f"step/{name}_ms", 0, part["value"] * 1e3
        yield "step/whole_ms", 0, data["step_seconds"]["median"] * 1e3
        yield "step/data_share", 0, data["data_share"]["value"]
        for entry in data["comparisons"]:
            if entry["ratio"]:
                yield f"step/time_with_{entry['name']}", 0, entry["ratio"]["value"]
    elif kind == "devices":
        for device in data["devices"]:
            for series in device["series"]:
                tag = f"devices/{device['kind']}{device['index']}/{series['name'].replace(' ', '_')}_{series['unit'].replace('/', '_per_').replace('%', 'percent')}"
                for moment, value in zip(series["times"], series["values"], strict=True):
                    # TensorBoard's steps are whole numbers: milliseconds since the start.
                    yield tag, round(moment * 1e3), value
        if data["pipeline"]:
            for name, share in zip(data["pipeline"]["stages"], data["pipeline"]["busy_share"], strict=True):
                yield f"devices/busy/{name}", 0, share
            yield "devices/overlap", 0, data["pipeline"]["overlap_share"]
    elif kind == "search":
        for step, entry in enumerate(data["tried"]):
            if entry["samples_per_second"] is not None:
                yield "search/samples_per_second", step, entry["samples_per_second"]


def write(data: Mapping[str, Any], logdir: str) -> int:
    """Write a profile's summaries below `logdir` and return the number of points.

    This needs TensorFlow.
    """
    import tensorflow as tf

    def kind_of(plugin: str) -> Any:
        # What tf.summary.scalar and tf.summary.text write, without the tensorboard package that they need.
        metadata = tf.compat.v1.SummaryMetadata()
        metadata.plugin_data.plugin_name = plugin
        return metadata

    count = 0
    writer = tf.summary.create_file_writer(logdir)
    with writer.as_default():
        for tag, step, value in scalars(data):
            if math.isfinite(value):
                tf.summary.write(tag, tf.constant(value, tf.float32), step=step, metadata=kind_of("scalars"))
                count += 1
        lines = [
            f"**{verdict['name']}** ({verdict['outcome']}): {verdict['summary']}"
            for verdict in data.get("verdicts", ())
        ]
        if "summary" in data:
            lines.insert(0, data["summary"])
        tf.summary.write(
            f"{data.get('kind', 'search')}/verdicts",
            tf.constant(["\n\n".join(lines)]),
            step=0,
            metadata=kind_of("text"),
        )
    writer.close()
    return count


def with_summaries(data: dict[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Write TensorBoard summaries where the options ask for them; return the profile."""
    if options.get("tensorboard"):
        write(data, options["tensorboard"])
    return data


def job(options: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Write the summaries of `options["profile"]` in a child process."""
    progress("writing summaries", 0.5)
    return {"points": write(options["profile"], options["tensorboard"])}
