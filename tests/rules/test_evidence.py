"""What rules claim is backed: by a recorded measurement, or by a primary source."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cfgfix.rules.evidence import SCRIPTS, Table, of_rule, results, tables
from cfgfix.rules.reader import load_yaml

ROOT = Path(__file__).resolve().parents[2]
RULES = [
    (path.stem.partition("-")[0], load_yaml(str(path))) for path in sorted((ROOT / "rules").glob("*/*.yaml"))
]
IDS = [name for name, _ in RULES]

PRIMARY = re.compile(
    r"tensorflow/|tf\.|TensorFlow |keras/|keras-team/|Keras |NVIDIA |PyYAML |ruamel|YAML 1\.|yaml/|yaml\.|JSON Schema |Python 3|XLA |"
    r"grpc/|OmegaConf|arithmetic|sizes of cards|libyaml|numpy|protobuf|absl"
)
"""Sources that decide: documents, source and issue trackers of what runs the training, standards, products, arithmetic."""
PERFORMANCE = {
    *(name for name in IDS if name.startswith("HWR")),
    *("CFG003", "CFG007", "CFG008", "CFG010", "CFG013", "CFG015", "CFG017", "CFG020", "CFG024"),
    *(name for name in IDS if name.startswith(("TFD", "TFF"))),
}
"""Rules that say what costs speed or memory."""


def backing(data: dict[str, Any]) -> list[str]:
    """What a rule rests on: names of recorded tables and primary sources."""
    found = [f"{table.script}: {table.title}" for table in of_rule(data["evidence"])]
    return found + [
        str(item["source"])
        for item in data["evidence"]
        if "source" in item and PRIMARY.match(str(item["source"]))
    ]


@pytest.mark.parametrize(("name", "data"), RULES, ids=IDS)
def test_a_performance_rule_without_backing_is_information_at_most(name: str, data: dict[str, Any]) -> None:
    if name not in PERFORMANCE or backing(data):
        return
    assert data["severity"] == "info", "neither a recorded measurement nor a primary source"
    assert not data.get("escalate")


def test_advice_of_guides_alone_is_information() -> None:
    by_name = dict(RULES)
    for name in ("HWR022", "HWR024", "HWR025"):
        assert by_name[name]["severity"] == "info"


@pytest.mark.parametrize(("name", "data"), RULES, ids=IDS)
def test_every_measurement_that_a_rule_names_is_recorded(name: str, data: dict[str, Any]) -> None:
    for item in data["evidence"]:
        assert ("source" in item) is not ("measured" in item)
        if "measured" in item:
            assert (ROOT / item["measured"]).is_file(), item["measured"]
            found = tables(item["measured"], item.get("table", ""))
            assert len(found) == 1 or (found and "table" not in item), (
                f"{item['measured']}: {item.get('table')}"
            )


def test_scripts_and_results_are_the_same_set() -> None:
    scripts = {path.stem for path in (ROOT / SCRIPTS).glob("*.py")} - {"run", "harness"}
    assert set(results()) == scripts
    whole = json.loads((ROOT / SCRIPTS / "results.json").read_text(encoding="utf-8"))
    assert set(whole) == scripts
    for name, result in whole.items():
        assert {table["title"] for table in result["tables"]} == set(results()[name]["tables"])


def test_every_script_is_on_the_page_of_scripts() -> None:
    page = (ROOT / SCRIPTS / "README.md").read_text(encoding="utf-8")
    for name in results():
        assert f"`{name}.py`" in page


def test_a_table_says_what_it_holds() -> None:
    (table,) = tables("workers", "CPU-bound map")
    assert isinstance(table, Table)
    title, first, *_, place = table.lines()
    assert title.startswith("CPU-bound map, 192 images (times as fast as the first)")
    assert first == "1 calls: 1.0"
    assert "2 CPUs" in place
    assert "TensorFlow 2." in place
    assert tables("no_such_script") == []
    assert tables("workers", "no such table") == []


def test_what_rules_build_on_is_what_was_measured() -> None:
    """The findings that rules are made of hold in the recorded data, whatever the digits."""

    def value(script: str, table: str, row: str) -> float:
        (found,) = tables(script, table)
        return float(dict(found.rows)[row])

    assert value("workers", "CPU-bound map", "2 calls") > 1.5
    assert value("workers", "CPU-bound map", "32 calls") < 1.15 * value("workers", "CPU-bound map", "2 calls")
    assert value("workers", "time to the first", "64 calls") < 0.8
    assert value("workers", "functions that wait", "32 calls, pool of 32") > 3
    for shape in ("steady", "bursty", "slow"):
        assert abs(value("prefetch", shape, "prefetch(0)") - 1) < 0.1
        ten, hundred = value("prefetch", shape, "prefetch(10)"), value("prefetch", shape, "prefetch(100)")
        assert abs(ten / hundred - 1) < 0.1
    assert value("prefetch", "bursty", "prefetch(10)") > 1.2 * value("prefetch", "bursty", "prefetch(2)")
    assert value("functions", "40 steps", "XLA, padded") > 10
    assert value("functions", "width 64", "graph") > 3
    assert value("keras_fit", "width 64", "run_eagerly") < 0.2
    assert value("keras_fit", "width 1024", "mixed_float16") < 0.9
    assert value("determinism", "stateful map", "determinism on") < 0.7
    assert value("threads", "intra-op", "32 threads") < 0.95
    assert value("shuffle", "500 images", "shuffle, then decode") > 4
    same = value("service_prefetch", "service", "none written") / value(
        "service_prefetch", "service", "prefetch(2)"
    )
    assert abs(same - 1) < 0.1


def test_what_was_measured_on_a_gpu_is_what_its_rules_say() -> None:
    def rows(table: str) -> dict[str, Any]:
        (found,) = tables("on_gpu", table)
        assert "NVIDIA" in found.circumstances
        return dict(found.rows)

    late = rows("set after the runtime has started")
    assert late["set_memory_growth after tf.data.Dataset.range(3)"] == "RuntimeError"
    assert late["set_memory_growth after tf.test.is_gpu_available()"] == "ok"
    memory = rows("the memory one process takes")
    assert memory["the same behind list_physical_devices"] == memory["memory growth"] == "little"
    assert memory["the same behind list_logical_devices"] == memory["nothing is set"] != "little"
    places = rows("where a batch lies")
    assert {places[f"{op} behind prefetch_to_device"] for op in ("map", "take", "repeat")} == {"CPU:0"}
    assert places["prefetch behind prefetch_to_device"] == places["prefetch_to_device last"] == "GPU:0"
    copied = rows("copied to it")
    assert copied["prefetch_to_device last"] > 5 * copied["map behind prefetch_to_device"]
    assert copied["buffer of 32 on the device"] < 1.1 * copied["prefetch_to_device last"]
    assert rows("large products")["one each step"] < 0.85 < rows("large products")["four every hundredth"]
    policies = rows("dense Keras model")
    assert 1.2 < policies["mixed_float16, jit_compile=False"] < 2
    buffers = rows("memory of prefetch_to_device")
    for length in (2, 8, 32, 100):
        assert length <= buffers[f"buffer of {length}: batches on the device"] <= length + 1
