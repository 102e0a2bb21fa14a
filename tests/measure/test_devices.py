from __future__ import annotations

import itertools
import json
import os
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfgfix.core.errors import CfgfixError
from cfgfix.measure.device_profile import Device, Overlap, Series
from cfgfix.measure.device_samplers import Sampler, evenly_spaced, open_nvml
from cfgfix.measure.devices import make_profile, overlap_from, run_pipeline, watch
from cfgfix.measure.overlaps import covered, measure_overlap, merged, shared_time
from cfgfix.measure.sampling import UserCodeError
from cfgfix.measure.verdicts import Outcome

spans = st.lists(
    st.tuples(st.floats(0, 100), st.floats(0, 20)).map(lambda pair: (pair[0], pair[0] + pair[1])), max_size=12
)


# --- spans of time


@given(spans)
@settings(max_examples=60, deadline=None)
def test_merged_spans_cover_the_same_time_once(found):
    joined = merged(found)
    assert all(left[1] < right[0] for left, right in itertools.pairwise(joined))
    assert covered(joined) == pytest.approx(covered(found))
    assert covered(found) <= sum(end - start for start, end in found) + 1e-9


@given(spans, spans)
@settings(max_examples=60, deadline=None)
def test_time_shared_is_what_covers_both(first, second):
    both = covered(first) + covered(second) - covered([*first, *second])
    assert shared_time([first, second]) == pytest.approx(both, abs=1e-6)


def test_overlap_of_known_spans():
    found = measure_overlap(["data", "model"], [[(0, 4), (5, 6)], [(3, 8), (9, 10)]], items=2, sequential=11)
    assert found.busy == pytest.approx((0.5, 0.6))
    assert found.together == pytest.approx(0.2)
    assert found.idle == pytest.approx(0.1)
    assert found.speedup == pytest.approx(1.1)
    assert found.possible == pytest.approx(1.1 / 0.6)
    assert overlap_from(found.as_dict()) == found
    with pytest.raises(ValueError, match="no stage"):
        measure_overlap(["a"], [[]], items=0, sequential=0)


# --- a pipeline over two devices


@pytest.mark.measured
def test_two_devices_overlap(tf):
    first, second = tf.config.list_logical_devices("CPU")[:2]

    def on(device):
        def stage(value):
            time.sleep(0.02)
            with tf.device(device.name):
                return value + 1

        return stage

    found = run_pipeline(
        [tf.constant(float(place)) for place in range(23)],
        [("data", on(first)), ("model", on(second))],
        items=20,
    )
    assert found.items == 20
    assert found.stages == ("data", "model")
    assert found.together > 0.5
    assert found.speedup > 1.3


@pytest.mark.measured
def test_one_stage_after_the_other_does_not_overlap(tf):
    """Both stages want the same lock."""
    import threading

    lock = threading.Lock()

    def stage(value):
        with lock:
            time.sleep(0.01)
        return value

    found = run_pipeline(list(range(23)), [("a", stage), ("b", stage)], items=20)
    profile = make_profile((), (), "none", pid=None, overlap=found, working=True)
    # Waiting for a lock is a part of the stage's span, so both look at work; that it gains nothing is seen by the clock.
    assert found.speedup < 1.3
    assert profile.overlap == found


def test_what_a_stage_raises_is_the_users_failure(tf):
    def fail(value):
        if value == 7:
            raise ValueError("a bug of mine")
        return value

    with pytest.raises(UserCodeError, match="a bug of mine"):
        run_pipeline(list(range(10)), [("a", lambda value: value), ("b", fail)], items=6)
    with pytest.raises(CfgfixError, match="more than 3"):
        run_pipeline([1, 2], [("a", lambda value: value)], items=6)


@pytest.mark.parametrize(
    ("busy", "sequential", "outcome"),
    [((0.5, 0.98), 1.5, Outcome.GOOD), ((0.5, 0.5), 1.0, Outcome.PROBLEM), ((0.6, 0.8), 1.4, Outcome.INFO)],
)
def test_a_pipeline_is_judged(busy, sequential, outcome):
    overlap = Overlap(("a", "b"), busy, 0.2, 0.0, 1.0, 10, sequential)
    found = make_profile((), (), "no GPU", pid=None, overlap=overlap, working=True)
    assert next(verdict for verdict in found.verdicts if verdict.name == "pipeline").outcome is outcome


# --- NVML, by a fake that behaves like the binding


class Nvml:
    """Two cards, the second of which supports less."""

    NVML_GPU_UTILIZATION_SAMPLES = 1
    NVML_CLOCK_SM, NVML_CLOCK_MEM = 1, 2
    NVML_PCIE_UTIL_RX_BYTES, NVML_PCIE_UTIL_TX_BYTES = 1, 0
    NVML_VALUE_TYPE_DOUBLE = 0
    NVML_ERROR_NOT_SUPPORTED = 3
    NVML_TOPOLOGY_NODE = 40

    class NVMLError(Exception):
        def __init__(self, value):
            super().__init__(value)
            self.value = value

    def __init__(self):
        self.clock = 1_000_000
        self.asked = []

    def nvmlDeviceGetCount(self):  # noqa: N802
        return 2

    def nvmlDeviceGetHandleByIndex(self, index):  # noqa: N802
        return index

    def nvmlDeviceGetName(self, handle):  # noqa: N802
        return b"Card" if handle == 0 else "Other card"

    def nvmlDeviceGetComputeRunningProcesses(self, handle):  # noqa: N802
        return [type("P", (), {"pid": os.getpid()})()] if handle == 1 else []

    def nvmlDeviceGetGraphicsRunningProcesses(self, handle):  # noqa: N802
        raise self.NVMLError(3)

    def nvmlDeviceGetSamples(self, handle, kind, last):  # noqa: N802
        self.asked.append(handle)
        if handle == 1:
            raise self.NVMLError(3)
        found = []
        for place in range(3):
            value = type("V", (), {"uiVal": 90, "dVal": 0.0})()
            found.append(type("S", (), {"timeStamp": self.clock + 100_000 * place, "sampleValue": value})())
        self.clock += 300_000
        return 1, found

    def nvmlDeviceGetUtilizationRates(self, handle):  # noqa: N802
        return type("R", (), {"gpu": 10, "memory": 1})()

    def nvmlDeviceGetMemoryInfo(self, handle):  # noqa: N802
        return type("M", (), {"used": 2 << 30, "total": 24 << 30})()

    def nvmlDeviceGetPowerUsage(self, handle):  # noqa: N802
        return 250_000

    def nvmlDeviceGetEnforcedPowerLimit(self, handle):  # noqa: N802
        return 450_000

    def nvmlDeviceGetClockInfo(self, handle, kind):  # noqa: N802
        return 2000

    def nvmlDeviceGetPcieThroughput(self, handle, kind):  # noqa: N802
        if handle == 1:
            raise self.NVMLError(3)
        return 1000

    def nvmlDeviceGetMaxPcieLinkWidth(self, handle):  # noqa: N802
        return 16

    def nvmlDeviceGetMaxPcieLinkGeneration(self, handle):  # noqa: N802
        return 4

    def nvmlDeviceGetTopologyCommonAncestor(self, first, second):  # noqa: N802
        return 40


def test_every_figure_of_every_card_is_read():
    nvml = Nvml()
    sampler = Sampler(nvml)
    for _ in range(6):
        sampler.read()
    first, second = sampler.devices()
    assert (first.name, second.name) == ("Card", "Other card")
    assert {series.name for series in first.series} == {
        "utilisation", "memory", "power", "sm clock", "memory clock", "pcie received", "pcie sent",
    }  # fmt: skip
    assert first.find("power").values == (250.0,) * 6
    assert first.find("pcie received").values[0] == 1000 * 1024
    assert first.facts["power limit"] == "450 W"
    assert first.facts["PCIe at most"] == "generation 4, 16 lanes"
    assert second.find("pcie received") is None
    assert sampler.topology() == ("GPU 0 and GPU 1: within a NUMA node",)


def test_what_the_driver_reserves_is_not_in_use():
    """On an idle H100 the first version of the call says 503 MB, the second none, as nvidia-smi does (driver 580)."""

    class Newer(Nvml):
        nvmlMemory_v2 = 0x2000028  # noqa: N815

        def nvmlDeviceGetMemoryInfo(self, handle, version=None):  # noqa: N802
            if version is None:
                return super().nvmlDeviceGetMemoryInfo(handle)
            if handle == 1:
                raise self.NVMLError(13)
            return type("M", (), {"used": 1 << 30, "total": 24 << 30})()

    sampler = Sampler(Newer())
    sampler.read()
    first, second = sampler.devices()
    assert first.find("memory").values == (float(1 << 30),)
    assert second.find("memory").values == (float(2 << 30),)
    assert first.facts["memory total"] == second.facts["memory total"] == "24576 MiB"


def test_the_drivers_own_samples_keep_their_times():
    nvml = Nvml()
    sampler = Sampler(nvml)
    for _ in range(4):
        sampler.read()
    series = sampler.devices()[0].find("utilisation")
    assert series.source == "nvmlDeviceGetSamples"
    # The first reading holds only what was there before.
    assert len(series.values) == 9
    assert np.diff(series.times) == pytest.approx(0.1)


def test_what_a_card_does_not_support_is_asked_once():
    nvml = Nvml()
    sampler = Sampler(nvml)
    for _ in range(5):
        sampler.read()
    assert nvml.asked.count(1) == 1
    assert sampler.devices()[1].find("utilisation").source == "nvmlDeviceGetUtilizationRates"


def test_only_the_cards_of_a_process_are_watched():
    assert list(Sampler(Nvml(), pid=os.getpid()).handles) == [1]


def test_watching_reads_cards_and_processors():
    devices, topology, _ = watch(seconds=0.7, interval=0.02, process=os.getpid(), nvml=Nvml())
    assert [device.kind for device in devices] == ["GPU", "GPU", "CPU"]
    assert devices[2].find("CPUs at work") is not None
    assert topology
    profile = make_profile(devices, topology, "2 GPUs", pid=None, overlap=None, working=True)
    verdicts = {verdict.name: verdict for verdict in profile.verdicts}
    assert verdicts["GPU 0"].outcome is Outcome.GOOD
    assert verdicts["GPU 1"].outcome is Outcome.PROBLEM
    assert verdicts["GPU 1"].summary == "underused"
    assert len(profile.limits) == 2
    json.dumps(profile.as_dict(), allow_nan=False)


def test_idle_cards_that_nobody_uses_are_no_problem():
    devices, topology, _ = watch(seconds=0.4, interval=0.02, nvml=Nvml())
    profile = make_profile(devices, topology, "2 GPUs", pid=None, overlap=None, working=False)
    assert Outcome.PROBLEM not in {verdict.outcome for verdict in profile.verdicts}


def test_a_process_that_is_not_there():
    with pytest.raises(CfgfixError, match="no process"):
        watch(seconds=0.1, pid=2**22 + 1)


def test_a_card_that_works_and_waits():
    values = tuple(float(value) for value in ([95] * 5 + [0] * 5) * 20)
    times = tuple(place * 0.1 for place in range(200))
    device = Device(0, "Card", "GPU", (Series("utilisation", "%", times, values, "made"),))
    profile = make_profile((device,), (), "1 GPU", pid=None, overlap=None, working=True)
    verdict = profile.verdicts[0]
    assert verdict.outcome is Outcome.PROBLEM
    assert "fluctuates" in verdict.summary


def test_readings_are_put_at_even_times():
    times = np.array([0, 0.1, 0.2, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    spacing, values = evenly_spaced(times, np.arange(10.0))
    assert spacing == pytest.approx(0.1)
    assert values.size in (9, 10)
    assert np.all(np.diff(values) >= 0)
    assert evenly_spaced(times[:5], np.arange(5.0)) is None


def test_without_a_driver_the_reason_is_told(monkeypatch):
    pynvml = pytest.importorskip("pynvml")

    def fail():
        raise pynvml.NVMLError(pynvml.NVML_ERROR_DRIVER_NOT_LOADED)

    monkeypatch.setattr(pynvml, "nvmlInit", fail)
    module, text = open_nvml()
    assert module is None
    assert "driver is not loaded" in text


def test_a_real_card_is_read():
    module, text = open_nvml()
    if module is None:
        pytest.skip(f"needs a GPU: {text}")
    devices, _, _ = watch(seconds=1.0, interval=0.05)
    card = devices[0]
    assert card.kind == "GPU"
    assert card.find("memory").values[0] >= 0
