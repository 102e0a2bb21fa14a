from __future__ import annotations

import json
import math
import struct
import wave

import pytest

from cfgfix.core.errors import CfgfixError
from cfgfix.measure import speech
from cfgfix.measure.dataset_graph import read_graph, strings_in
from cfgfix.measure.service import measure_service
from cfgfix.measure.step import measure
from cfgfix.measure.step_profile import StepPlan
from cfgfix.measure.summaries import scalars, write
from cfgfix.measure.tracing import read_trace

SETTINGS = speech.Settings(batch_size=2, mels=8, max_frames=20, max_text=12, hop=256, window=512)


@pytest.fixture
def folder(tmp_path):
    """Six spoken beeps as an LJSpeech-style folder."""
    (tmp_path / "wavs").mkdir()
    lines = []
    for place in range(6):
        with wave.open(str(tmp_path / "wavs" / f"a{place}.wav"), "wb") as stream:
            stream.setnchannels(1)
            stream.setsampwidth(2)
            stream.setframerate(22050)
            tone = (int(9000 * math.sin(step * (place + 1) / 20)) for step in range(6000))
            stream.writeframes(b"".join(struct.pack("<h", value) for value in tone))
        lines.append(f"a{place}|Raw {place}|Größe {place}")
    (tmp_path / "metadata.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_rows_have_a_path_and_the_normalised_text(folder):
    rows = speech.read_rows(str(folder))
    assert len(rows) == 6
    assert rows[0] == (str(folder / "wavs" / "a0.wav"), "Größe 0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot be read"),
        ("nothing\n", "no line of the form"),
        ("gone|text\n", "none of its 1 WAV files"),
    ],
)
def test_folders_of_another_form_are_refused(tmp_path, text, message):
    if text is not None:
        (tmp_path / "metadata.csv").write_text(text, encoding="utf-8")
    with pytest.raises(CfgfixError, match=message):
        speech.read_rows(str(tmp_path))


def test_batches_have_the_promised_shapes(tf, folder):
    dataset = speech.make_dataset(str(folder), SETTINGS)
    assert dataset.element_spec["mel"].shape == [2, 20, 8]
    batch = next(iter(dataset))
    assert batch["text"].shape == [2, 12]
    assert batch["mel_length"].numpy().tolist() == [20, 20]
    assert batch["text_length"].numpy().tolist() == [7, 7]
    assert float(tf.reduce_max(batch["mel"])) > float(tf.reduce_min(batch["mel"]))
    assert any(name.endswith("a0.wav") for name in strings_in(read_graph(dataset)))


def test_the_built_in_step_trains_on_it(tf, folder):
    found = measure(
        lambda: speech.make_step(SETTINGS),
        lambda: speech.make_dataset(str(folder), SETTINGS),
        StepPlan(rounds=3, steps=10, seconds=20, compare=False),
    )
    assert found.parts["forward"].value > 0
    assert found.traces == ()


def test_settings_come_from_a_jobs_options():
    assert speech.settings_from({"speech": {"batch_size": 4, "other": 1}}).batch_size == 4


# --- a tf.data service


@pytest.mark.acceptance
def test_a_dataset_goes_through_a_service(tf, folder):
    found = measure_service(
        lambda: speech.make_dataset(str(folder), SETTINGS), workers=1, batches=12, seconds=20
    )
    assert found["workers"] == 1
    assert found["batches_per_second"] > 0
    assert found["samples_per_second"] == pytest.approx(2 * found["batches_per_second"])


def test_python_cannot_go_through_a_service(tf):
    def make():
        return tf.data.Dataset.range(10).map(lambda value: tf.numpy_function(lambda x: x, [value], tf.int64))

    assert "CLU008" in measure_service(make, workers=1, batches=10, seconds=5)["skipped"]


# --- summaries


def events(tf, folder):
    for path in folder.rglob("events.out.tfevents.*"):
        for record in tf.data.TFRecordDataset(str(path)):
            event = tf.compat.v1.Event.FromString(record.numpy())
            yield from event.summary.value


def test_a_profile_becomes_summaries(tf, tmp_path):
    data = {
        "kind": "data",
        "series": [0.01, 0.02],
        "rates": {"samples_per_second": 3.0, "batches_per_second": math.inf, "cpus_busy": 1.0},
        "stages": [{"operation": "Map", "seconds_per_batch": 0.005}],
        "consumer": {"idle_share": {"value": 0.25}},
        "verdicts": [{"name": "input", "outcome": "problem", "summary": "highly input-bound"}],
    }
    assert len(list(scalars(data))) == 7
    assert write(data, str(tmp_path)) == 6
    found = {value.tag: value for value in events(tf, tmp_path)}
    assert found["data/idle_share"].metadata.plugin_data.plugin_name == "scalars"
    assert float(tf.make_ndarray(found["data/idle_share"].tensor)) == 0.25
    assert b"highly input-bound" in tf.make_ndarray(found["data/verdicts"].tensor)[0]
    assert "data/stage_ms/00_Map" in found


def test_series_of_devices_keep_their_times():
    series = {"name": "pcie sent", "unit": "bytes/s", "times": [0.1, 0.2], "values": [1.0, 2.0]}
    data = {
        "kind": "devices",
        "devices": [{"kind": "GPU", "index": 0, "series": [series]}],
        "pipeline": {"stages": ["a"], "busy_share": [0.5], "overlap_share": 0.1},
    }
    assert list(scalars(data))[:2] == [
        ("devices/GPU0/pcie_sent_bytes_per_s", 100, 1.0),
        ("devices/GPU0/pcie_sent_bytes_per_s", 200, 2.0),
    ]


def test_no_trace_is_no_verdict(tmp_path):
    assert not read_trace([]).available
    broken = tmp_path / "a.xplane.pb"
    broken.write_bytes(b"nothing of the kind")
    found = read_trace([str(broken)])
    assert not found.available
    json.dumps(found.as_dict())
