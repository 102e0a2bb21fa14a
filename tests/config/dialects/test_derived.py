"""The formulas behind derived operands, against the worked and measured numbers of the rule evidence."""

from __future__ import annotations

import math
from graphlib import TopologicalSorter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgfix.config.dialects import derived
from cfgfix.config.dialects.derived import DERIVED, MIB, Component
from cfgfix.rules.expression import Missing

SPEECH: tuple[Component, ...] = (
    ("mel", (800, 80), "float32"),
    ("text", (200,), "int32"),
    ("lengths", (2,), "int32"),
)
counts = st.integers(min_value=0, max_value=10**9)


def test_padded_batch_of_speech_is_33_megabytes() -> None:
    assert derived.element_bytes(SPEECH) == 800 * 80 * 4 + 200 * 4 + 8
    assert derived.batch_bytes(128, derived.element_bytes(SPEECH)) == pytest.approx(32.87e6, rel=0.001)


def test_a_scalar_component_counts_once() -> None:
    assert derived.element_bytes((("label", (), "int64"),)) == 8


@pytest.mark.parametrize("components", [(), (("x", (1,), "quaternion"),), (("x", (-1,), "int8"),)])
def test_components_that_have_no_size(components: tuple[Component, ...]) -> None:
    with pytest.raises(ValueError, match=r"component|dtype|x is"):
        derived.element_bytes(components)


def test_padding_to_the_maximum_and_to_buckets() -> None:
    lengths = list(range(40, 120))
    assert derived.padding_waste(lengths, 120) == pytest.approx(1.48, abs=0.05)
    assert derived.bucket_waste(lengths, 16) == pytest.approx(1.09, abs=0.02)


@given(st.lists(st.integers(1, 500), min_size=1), st.integers(1, 64))
def test_buckets_never_waste_more_than_one_width_each(lengths: list[int], width: int) -> None:
    waste = derived.bucket_waste(lengths, width)
    assert 1 <= waste <= 1 + len(lengths) * width / sum(lengths)


def test_padding_below_the_longest_sequence_has_no_waste() -> None:
    with pytest.raises(ValueError, match="fit"):
        derived.padding_waste([1, 2, 3], 2)
    with pytest.raises(ValueError, match="fit"):
        derived.padding_waste([], 2)
    with pytest.raises(ValueError, match="fit"):
        derived.bucket_waste([1], 0)


@pytest.mark.parametrize(("buffer", "measured_mb"), [(1, 32), (2, 51), (10, 125), (100, 1028)])
def test_host_memory_of_prefetch_is_what_was_measured(buffer: int, measured_mb: int) -> None:
    predicted = derived.prefetch_host_bytes(buffer, 10.24e6) / 1e6
    assert predicted == pytest.approx(measured_mb, rel=0.25, abs=3)


@pytest.mark.parametrize(("calls", "measured_mb"), [(1, 16), (2, 33), (8, 85), (32, 408)])
def test_memory_of_a_parallel_map_bounds_what_was_measured(calls: int, measured_mb: int) -> None:
    assert derived.map_bytes(calls, 16 * MIB) >= 0.97 * measured_mb * 1e6


def test_shuffle_buffer_takes_250_megabytes() -> None:
    assert derived.shuffle_bytes(1000, 250_000) == pytest.approx(249e6, rel=0.01)
    assert derived.shuffle_latency_seconds(500, 0.00083) == pytest.approx(0.417, rel=0.01)


def test_device_prefetch_of_a_hundred_batches_is_40_percent_of_8_gib() -> None:
    size = derived.device_prefetch_bytes(100, derived.batch_bytes(128, derived.element_bytes(SPEECH)))
    assert size == pytest.approx(3.29e9, rel=0.002)
    assert size / (8192 * MIB) == pytest.approx(0.38, abs=0.02)


def test_a_cache_holds_the_whole_data_set() -> None:
    # 100,000 images of 224 x 224 x 3 floats
    assert derived.cache_bytes(100_000, 224 * 224 * 3 * 4) == 60_211_200_000


def test_a_shuffle_buffer_delays_the_first_batch() -> None:
    # 500 images, decoded at 0.8 ms each
    assert derived.shuffle_latency_seconds(500, 0.0008) == pytest.approx(0.4)


def test_overlap_takes_the_slower_side() -> None:
    assert derived.step_seconds(0.004, 0.005) * 80 == pytest.approx(0.448, rel=0.15)
    assert derived.step_seconds(0.004, 0.005, overlapped=False) * 80 == pytest.approx(0.825, rel=0.15)


def test_a_burst_of_31_ms_needs_7_batches_of_5_ms() -> None:
    assert derived.burst_depth(31, 5) == 7
    assert derived.burst_depth(0, 5) == 1
    with pytest.raises(ValueError, match="step"):
        derived.burst_depth(31, 0)


@pytest.mark.parametrize(("cpus", "calls"), [(0.5, 1), (1, 1), (2, 2), (7.5, 7), (64, 64)])
def test_useful_workers_are_whole_cpus(cpus: float, calls: int) -> None:
    assert derived.useful_workers(cpus) == calls


@pytest.mark.parametrize(
    ("optimizer", "per_parameter"),
    [("sgd", 8), ("momentum", 12), ("rmsprop", 12), ("lion", 12), ("adam", 16), ("AdamW", 16)],
)
def test_model_state_by_optimizer(optimizer: str, per_parameter: int) -> None:
    assert derived.model_state_bytes(100_000_000, optimizer) == 100_000_000 * per_parameter


def test_an_unknown_optimizer_has_no_known_state() -> None:
    with pytest.raises(Missing):
        derived.model_state_bytes(1, "shampoo")


def test_half_precision_halves_activations_only() -> None:
    assert derived.activation_bytes(1000, 8, half=True) * 2 == derived.activation_bytes(1000, 8)


def test_alignment() -> None:
    assert derived.is_aligned(512)
    assert not derived.is_aligned(500)
    assert not derived.is_aligned(8, 16)


def test_all_reduce_of_a_hundred_million_parameters() -> None:
    assert derived.all_reduce_seconds(100e6, 10e9) == pytest.approx(0.04)
    with pytest.raises(ValueError, match="bandwidth"):
        derived.all_reduce_seconds(1, 0)


def test_xla_compile_budget() -> None:
    assert derived.xla_compile_seconds(30, (7.34 - 0.33) / 29) == pytest.approx(7.3, rel=0.02)
    assert derived.xla_pays(1000, 0.010, 0.009, 0.5)
    assert not derived.xla_pays(1, 0.010, 0.009, 0.5)


def test_autotune_may_take_half_of_the_free_memory() -> None:
    assert derived.autotune_ram_bytes(16e9) == 8e9


def test_eleven_seconds_are_948_frames() -> None:
    assert derived.audio_frames(11.0, 22050, 256) == 948
    assert derived.frames_seconds(800, 22050, 256) == pytest.approx(9.288, abs=0.001)
    with pytest.raises(ValueError, match="hop"):
        derived.audio_frames(1, 22050, 0)
    with pytest.raises(ValueError, match="sample_rate"):
        derived.frames_seconds(1, 0, 256)


@given(st.floats(0.01, 60), st.integers(8000, 48000), st.integers(64, 1024))
def test_frames_and_seconds_are_inverse_up_to_one_hop(seconds: float, rate: int, hop: int) -> None:
    frames = derived.audio_frames(seconds, rate, hop)
    assert frames - 1 <= seconds * rate / hop <= frames
    assert derived.frames_seconds(frames, rate, hop) >= seconds - 1e-9


def test_batches_of_an_epoch_and_parts_of_a_batch() -> None:
    assert derived.steps_per_epoch(100, 32) == 4
    assert derived.steps_per_epoch(100, 32, drop_remainder=True) == 3
    assert derived.effective_batch(16, 4) == 64
    assert derived.micro_batch(16, 4) == 4
    assert derived.micro_batch(2, 4) == 1
    with pytest.raises(ValueError, match="batch"):
        derived.steps_per_epoch(100, 0)
    with pytest.raises(ValueError, match="accumulation"):
        derived.micro_batch(16, 0)


@pytest.mark.parametrize("value", ["16", True, None, [16]])
def test_what_is_no_number_is_no_operand(value: object) -> None:
    with pytest.raises(TypeError):
        derived.batch_bytes(value, 4)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [-1, -0.5, math.inf, math.nan])
def test_a_number_that_no_setting_has_is_no_operand(value: float) -> None:
    with pytest.raises(ValueError, match="is "):
        derived.prefetch_host_bytes(value, 1000)


@given(counts, counts)
def test_memory_grows_with_the_buffer(buffer: int, batch: int) -> None:
    assert (
        derived.prefetch_host_bytes(buffer + 1, batch) - derived.prefetch_host_bytes(buffer, batch) == batch
    )
    assert derived.device_prefetch_bytes(buffer, batch) <= derived.prefetch_host_bytes(buffer, batch)


def test_the_table_names_itself_and_has_no_circle() -> None:
    graph = {name: set(row.needs) & set(DERIVED) for name, row in DERIVED.items()}
    assert [name for name, row in DERIVED.items() if row.name != name] == []
    assert set(TopologicalSorter(graph).static_order()) == set(DERIVED)


def test_every_row_says_its_unit_and_source() -> None:
    assert all(row.unit and row.source and row.needs for row in DERIVED.values())
