"""The table of what parameters mean: every concept is known, and TensorFlow takes every parameter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cfgfix.code.tensorflow.api import Api, load
from cfgfix.code.tensorflow.requirement import NOTHING
from cfgfix.config.dialects.dialect import dialects
from cfgfix.config.dialects.meanings import MEANINGS
from cfgfix.config.dialects.parameters import TRAINING, Reached, dialect_by_meanings, key_meanings, meaning_of
from cfgfix.core.findings import Location
from cfgfix.rules.reader import load_yaml

ROOT = Path(__file__).resolve().parents[3]
CALLS: dict[str, Any] = load_yaml(str(ROOT / "schemas" / "parameters.yaml"))["calls"]


@pytest.fixture(scope="module")
def api() -> Api:
    return load(NOTHING)


@pytest.mark.parametrize("call", CALLS)
def test_every_entry_is_true(api: Api, call: str) -> None:
    entry = CALLS[call]
    kinds = {"source", "parameters", "counted", "facts", "element", "samples", "attributes", "training"}
    assert set(entry) <= kinds
    assert set(entry.get("training", {})) <= set(TRAINING)
    assert entry["source"]
    named = [
        concepts
        for kind in ("parameters", "attributes", "counted")
        for concepts in entry.get(kind, {}).values()
    ]
    concepts = {concept for listed in named for concept in listed} | set(entry.get("facts", {}))
    assert concepts <= set(MEANINGS)
    signature = api.constructor(call)
    if signature is not None:
        taken = set(signature.positions(api.newest))
        for parameter in (*entry.get("parameters", {}), *entry.get("counted", {})):
            assert parameter in taken or signature.takes(parameter, ~0)


def test_one_entry_may_stand_for_a_module() -> None:
    assert meaning_of("keras.optimizers.Adam") is meaning_of("keras.optimizers.Lion")
    assert meaning_of("keras.optimizers.schedules.ExponentialDecay") is not meaning_of(
        "keras.optimizers.Adam"
    )
    assert meaning_of("keras.layers.Dense") is None


def reached(call: str, parameter: str, path: tuple[str, ...] | None, value: Any, **further: Any) -> Reached:
    facts = {"unchanged": path is not None, "known": True, "always": True, "alone": True, **further}
    return Reached(call, parameter, path, value=value, location=Location("a.py", 0, 1, 1, 1, 1, 2), **facts)


BATCH = "tensorflow.data.Dataset.batch"


def test_a_key_that_reaches_a_parameter_comes_before_the_names() -> None:
    generic = dialects()["generic"]
    found = dialect_by_meanings(generic, key_meanings([reached(BATCH, "batch_size", ("pens", "flock"), 33)]))
    assert found.concepts["batch_size"][0] == ("pens", "flock")
    assert ("batch_size",) in found.concepts["batch_size"]


def test_a_name_gives_way_to_what_the_code_shows() -> None:
    generic = dialects()["generic"]
    elsewhere = key_meanings([reached("tensorflow.data.Dataset.shuffle", "buffer_size", ("batch_size",), 9)])
    assert ("batch_size",) not in dialect_by_meanings(generic, elsewhere).concepts["batch_size"]
    constant = key_meanings([reached(BATCH, "batch_size", None, 32)])
    assert constant.facts["batch_size"][0] == 32
    assert "batch_size" not in dialect_by_meanings(generic, constant).concepts


def test_a_fact_needs_all_calls_to_agree() -> None:
    assert (
        "batch_size" not in key_meanings([reached(BATCH, "batch_size", None, size) for size in (8, 16)]).facts
    )
    unsure = reached(BATCH, "batch_size", None, 8, always=False)
    assert "batch_size" not in key_meanings([unsure]).facts


def test_items_are_counted() -> None:
    strategy = "tensorflow.distribute.MirroredStrategy"
    found = key_meanings(
        [reached(strategy, "", None, None), reached(strategy, "devices", None, ["GPU:0", "GPU:1"])]
    )
    assert {concept: value for concept, (value, _) in found.facts.items()} == {
        "strategy": "mirrored",
        "num_gpus": 2,
    }
