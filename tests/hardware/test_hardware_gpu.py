from __future__ import annotations

import builtins
import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fake_nvml import (
    FUNCTION_NOT_FOUND,
    GPU_IS_LOST,
    NO_PERMISSION,
    NOT_SUPPORTED,
    Device,
    FakeLib,
    a100_mig,
    gb10,
    installed,
    rtx3060,
    rtx4090,
)
from hypothesis import given
from hypothesis import strategies as st
from machine_tree import machine, write

from cfgfix.hardware import gpu as gpu_module
from cfgfix.hardware import visible
from cfgfix.hardware.detect import detect
from cfgfix.hardware.device_nodes import has_nvidia_device
from cfgfix.hardware.gpu import ERRORS, read_gpus, tf_reserve
from cfgfix.hardware.model import Certainty, exact, unknown
from cfgfix.hardware.presets import resolve_hardware
from cfgfix.hardware.table import gpu_rows

pytest.importorskip("pynvml", reason="the gpu extra is not installed")

RAM = exact(124_600.0, "/proc/meminfo MemTotal")


def read(devices, environ=None, **options):
    with installed(FakeLib(devices, **options)) as library:
        reading = read_gpus("/", environ or {}, RAM)
    assert library.shutdowns == (0 if options.get("init") else 1)
    return reading


def only(reading):
    assert len(reading.gpus) == 1
    return reading.gpus[0]


def test_a_card_of_the_table():
    gpu = only(read([rtx4090()]))
    assert gpu.id == "rtx4090"
    assert gpu.name == exact("NVIDIA GeForce RTX 4090", "NVML")
    assert gpu.memory_mib == exact(24564 - 346, "NVML memory v2: total less reserved")
    assert gpu.total_mib.value == 24564
    assert gpu.free_mib.value == 24218
    assert gpu.compute_capability == exact((8, 9), "NVML")
    assert gpu.tensor_cores.value is True
    assert gpu.nominal_gib.value == 24.0
    assert gpu.bandwidth_gbs.value == 1008.0
    assert gpu.fp16_tflops.value == 165.2
    assert gpu.pcie == exact("4.0 x16", "NVML maximum link")
    assert gpu.uuid.startswith("GPU-4090")
    assert gpu.mig is None
    assert not gpu.unified_memory


def test_eight_cards():
    reading = read([rtx4090(number) for number in range(8)])
    assert reading.number == exact(8, "NVML")
    assert [gpu.index for gpu in reading.gpus] == list(range(8))
    assert reading.notes == ()


def test_a_driver_without_cards():
    reading = read([])
    assert reading.number.value == 0
    assert "no GPU" in reading.notes[0]


@pytest.mark.parametrize("code", [9, 4, 18, 999, 17, 20, 12345])
def test_a_failing_start_is_worded_and_leaves_the_count_unknown(code):
    reading = read([rtx4090()], init=code)
    assert reading.gpus == ()
    assert not reading.number.known
    assert f"NVML error {code}" in reading.notes[0]
    assert ERRORS.get(code, "") in reading.notes[0]


def test_a_version_mismatch_says_restart():
    assert "restart" in read([], init=18).notes[0]


def test_a_missing_library_is_a_machine_without_gpu(monkeypatch):
    import pynvml

    def refuse(*arguments):
        raise OSError("libnvidia-ml.so.1: cannot open shared object file")

    monkeypatch.setattr(pynvml, "CDLL", refuse)
    with installed(None):
        reading = read_gpus("/", {}, RAM)
    assert reading.number.value == 0
    assert "NVML error 12" in reading.notes[0]


def test_a_library_without_its_first_function():
    reading = read([rtx4090()], init=0, missing={"nvmlDeviceGetCount_v2"})
    assert not reading.number.known
    assert f"NVML error {FUNCTION_NOT_FOUND}" in reading.notes[0]


@pytest.mark.parametrize("code", [2, 13, 25])
def test_an_older_library_gives_memory_by_the_first_call(code):
    gpu = only(read([rtx4090(errors={"nvmlDeviceGetMemoryInfo_v2": code})]))
    assert gpu.memory_mib.value == 24564
    assert gpu.memory_mib.certainty is Certainty.ESTIMATED
    assert gpu.total_mib.certainty is Certainty.EXACT


def test_a_library_without_the_second_memory_call():
    gpu = only(read([rtx4090()], missing={"nvmlDeviceGetMemoryInfo_v2"}))
    assert gpu.total_mib == exact(24564, "NVML memory v1")


EACH_CALL = [
    "nvmlDeviceGetName",
    "nvmlDeviceGetUUID",
    "nvmlDeviceGetCudaComputeCapability",
    "nvmlDeviceGetMemoryInfo_v2",
    "nvmlDeviceGetMigMode",
    "nvmlDeviceGetMaxPcieLinkGeneration",
    "nvmlDeviceGetMaxPcieLinkWidth",
]


@pytest.mark.parametrize("call", EACH_CALL)
@pytest.mark.parametrize("code", [NOT_SUPPORTED, NO_PERMISSION, FUNCTION_NOT_FOUND, 999])
def test_one_failing_call_loses_nothing_else(call, code):
    errors = {call: code}
    if call == "nvmlDeviceGetMemoryInfo_v2":
        errors["nvmlDeviceGetMemoryInfo"] = code
    whole = only(read([rtx4090()]))
    gpu = only(read([rtx4090(errors=errors)]))
    lost = {
        "nvmlDeviceGetName": gpu.name.known,
        "nvmlDeviceGetUUID": gpu.uuid is not None,
        "nvmlDeviceGetMemoryInfo_v2": gpu.memory_mib.known or gpu.free_mib.known,
    }
    assert not lost.get(call, False)
    for field in ("name", "memory_mib", "compute_capability"):
        concerned = {"name": "nvmlDeviceGetName", "memory_mib": "nvmlDeviceGetMemoryInfo_v2"}.get(field)
        if concerned != call:
            assert getattr(gpu, field).value == getattr(whole, field).value
    for value in (gpu.name, gpu.memory_mib):
        assert value.known or f"NVML error {code}" in value.source


@pytest.mark.parametrize("call", EACH_CALL)
def test_a_lost_card_is_left_out_whenever_it_is_noticed(call):
    reading = read([rtx4090(0), rtx4090(1, errors={call: GPU_IS_LOST}), rtx4090(2)])
    assert [gpu.uuid[:12] for gpu in reading.gpus] == ["GPU-40900000", "GPU-40900002"]
    assert "fallen off the bus" in reading.notes[0]
    assert reading.number.value == 2


def test_a_card_without_a_handle_is_left_out():
    reading = read([rtx4090(0, errors={"nvmlDeviceGetHandleByIndex": NO_PERMISSION}), rtx4090(1)])
    assert len(reading.gpus) == 1
    assert "may not access" in reading.notes[0]


def test_no_card_answers():
    reading = read([rtx4090(0, errors={"nvmlDeviceGetHandleByIndex": GPU_IS_LOST})])
    assert reading.gpus == ()
    assert not reading.number.known


def test_shared_memory_is_that_of_the_machine():
    gpu = only(read([gb10()]))
    assert gpu.unified_memory
    assert gpu.id == "gb10"
    assert gpu.memory_mib.value == 124_600
    assert gpu.memory_mib.certainty is Certainty.ESTIMATED
    assert "shares the memory" in gpu.memory_mib.source
    assert not gpu.free_mib.known


def test_a_jetson_is_told_apart_by_its_memory_as_far_as_it_goes():
    def orin(ram):
        errors = {"nvmlDeviceGetMemoryInfo": NOT_SUPPORTED, "nvmlDeviceGetMemoryInfo_v2": NOT_SUPPORTED}
        with installed(FakeLib([Device("Orin (nvgpu)", 0, 0, cc=(8, 7), errors=errors)])):
            return only(read_gpus("/", {}, ram))

    assert orin(exact(62_800.0, "-")).id == "jetson-agx-orin-64gb"
    small = orin(exact(7_620.0, "-"))
    assert small.id is None
    assert small.tensor_cores.value is True
    assert small.nominal_gib.value == 8.0


def test_a_card_that_hides_its_memory_and_shares_none_stays_unknown():
    errors = {"nvmlDeviceGetMemoryInfo": NOT_SUPPORTED, "nvmlDeviceGetMemoryInfo_v2": NOT_SUPPORTED}
    gpu = only(read([Device("NVIDIA Novelty 1", errors=errors)]))
    assert not gpu.memory_mib.known
    assert not gpu.unified_memory


def test_an_unknown_card_keeps_what_the_driver_says_and_borrows_nothing():
    gpu = only(read([Device("NVIDIA GeForce RTX 9090", 49140, 400, cc=(13, 0))]))
    assert gpu.id is None
    assert gpu.total_mib.value == 49140
    assert gpu.nominal_gib.value == 48.0
    assert gpu.nominal_gib.certainty is Certainty.ESTIMATED
    assert not gpu.bandwidth_gbs.known
    assert not gpu.fp16_tflops.known
    assert "not in the gpus table" in gpu.bandwidth_gbs.source
    assert gpu.tensor_cores == gpu.tensor_cores.__class__(True, gpu.tensor_cores.source, Certainty.ESTIMATED)


@pytest.mark.parametrize(
    ("cc", "expected"), [((6, 1), False), ((7, 0), None), ((7, 5), None), ((8, 6), True)]
)
def test_tensor_cores_of_an_unknown_card(cc, expected):
    assert only(read([Device("NVIDIA Novelty", cc=cc)])).tensor_cores.value is expected


def test_every_card_of_the_table_from_8_0_on_has_tensor_cores_and_bf16():
    for row in gpu_rows():
        if row.compute_capability is not None and row.compute_capability >= (8, 0):
            assert row.tensor_cores
            assert {"fp16", "bf16", "tf32"} <= set(row.tensor_dtypes)


def test_gtx_16_has_no_tensor_cores_although_its_capability_has():
    gpu = only(read([Device("NVIDIA GeForce GTX 1660", 6144, 200, cc=(7, 5))]))
    assert gpu.id == "gtx1660"
    assert gpu.tensor_cores.value is False


def test_the_same_name_with_two_sizes_is_told_apart_by_memory():
    assert only(read([rtx3060()])).id == "rtx3060-12gb"
    assert only(read([rtx3060(total_mib=8192)])).id == "rtx3060-8gb"


def test_older_drivers_leave_out_the_maker():
    assert only(read([Device("GeForce RTX 3090", 24268, 300, cc=(8, 6))])).id == "rtx3090"


def test_a_part_of_a_card_keeps_the_chip_and_not_the_rates():
    gpu = only(read([Device("NVIDIA L4", 2861, 100, cc=(8, 9))]))
    assert gpu.id is None
    assert gpu.tensor_cores.value is True
    assert not gpu.bandwidth_gbs.known
    assert "part of it" in gpu.bandwidth_gbs.source
    assert gpu.nominal_gib.known is False


# --- MIG --------------------------------------------------------------------------------------------------------------


def test_mig_shows_one_instance_with_its_own_memory():
    reading = read([a100_mig(1)])
    gpu = only(reading)
    assert gpu.mig == "1g.10gb"
    assert gpu.total_mib.value == 9728
    assert gpu.nominal_gib.value == 10.0
    assert gpu.compute_capability.value == (8, 0)
    assert gpu.tensor_cores.value is True
    assert not gpu.fp16_tflops.known
    assert reading.notes == ()


def test_mig_with_several_instances_says_which_is_unsure():
    reading = read([a100_mig(3)])
    assert only(reading).uuid.startswith("MIG-00")
    assert any("one MIG instance only" in note for note in reading.notes)
    assert any("not certain" in note for note in reading.notes)
    assert only(reading).memory_mib.certainty is Certainty.EXACT


def test_mig_instances_that_differ_are_estimates():
    gpu = only(read([a100_mig(2, sizes=[9728, 19968])]))
    assert gpu.memory_mib.certainty is Certainty.ESTIMATED


def test_mig_by_id_and_by_its_beginning():
    devices = [a100_mig(3)]
    assert only(read(devices, {"CUDA_VISIBLE_DEVICES": "MIG-02"})).uuid.startswith("MIG-02")
    reading = read(devices, {"CUDA_VISIBLE_DEVICES": "MIG-01111111-2222-3333-4444-555555555555,MIG-02"})
    assert only(reading).uuid.startswith("MIG-01")
    assert any("one MIG instance only" in note for note in reading.notes)


def test_mig_by_card():
    devices = [a100_mig(2, 0), a100_mig(2, 1)]
    assert only(read(devices, {"CUDA_VISIBLE_DEVICES": "1"})).uuid.startswith("MIG-10")
    assert only(read(devices, {"CUDA_VISIBLE_DEVICES": "GPU-a1000001"})).uuid.startswith("MIG-10")


def test_mig_beside_a_whole_card_hides_it():
    assert only(read([rtx4090(), a100_mig(1)])).mig == "1g.10gb"
    assert only(read([rtx4090(), a100_mig(1)], {"CUDA_VISIBLE_DEVICES": "0"})).mig is None


def test_a_lost_instance_is_left_out():
    card = a100_mig(2)
    card.mig[0].errors["nvmlDeviceGetName"] = GPU_IS_LOST
    reading = read([card])
    assert only(reading).uuid.startswith("MIG-01")
    assert "fallen off the bus" in reading.notes[0]


def test_an_instance_without_a_telling_name_is_called_by_its_id():
    card = a100_mig(1)
    card.mig[0].name = "NVIDIA A100-SXM4-80GB"
    assert only(read([card])).mig == card.mig[0].uuid


def test_mig_mode_without_instances():
    reading = read([a100_mig(0)])
    assert reading.gpus == ()
    assert "no instance exists" in reading.notes[0]


# --- CUDA_VISIBLE_DEVICES ---------------------------------------------------------------------------------------------

UUIDS = ["GPU-aa11", "GPU-ab22", "GPU-ab33", "GPU-cc44"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, (0, 1, 2, 3)),
        ("", ()),
        ("  ", ()),
        ("0", (0,)),
        ("1,0", (1, 0)),
        ("0,2,-1,1", (0, 2)),
        ("-1", ()),
        ("1gpu2,2ampere", (1, 2)),
        ("gpu1", ()),
        ("NoDevFiles", ()),
        ("none", ()),
        ("0,0", ()),
        ("1,2,1", ()),
        ("0,9,1", (0,)),
        ("9", ()),
        (" 1 , 2", (1, 2)),
        ("+1", (1,)),
        ("0,,1", (0,)),
        ("0,", (0,)),
        ("0x1", (0,)),
        ("01", (1,)),
        ("99999999999999999999999", ()),
        ("GPU-aa", (0,)),
        ("GPU-cc44,GPU-aa11", (3, 0)),
        ("GPU-ab", ()),
        ("GPU-ab2,GPU-ab3", (1, 2)),
        ("GPU-aa,GPU-ab", (0,)),
        ("GPU-aa,GPU-aa1", ()),
        ("GPU-zz,GPU-aa", ()),
        ("GPU-aa,1", (0,)),
        ("0,GPU-aa", (0,)),
        ("GPU-aa,MIG-1", (0,)),
        ("MIG-1", ()),
    ],
)
def test_cuda_visible_devices(value, expected):
    choice = visible.choose(value, UUIDS)
    assert choice.chosen == expected


@pytest.mark.parametrize("value", ["", "0,2,-1,1", "0,0", "GPU-ab", "gpu1", "GPU-aa,1"])
def test_an_odd_value_is_explained(value):
    note = visible.choose(value, UUIDS).note
    assert note is not None
    assert note.startswith("CUDA_VISIBLE_DEVICES")


@given(st.text(alphabet="0123456789,-+ GPUMIGab", max_size=40), st.integers(0, 9))
def test_whatever_is_set_the_choice_is_made_of_devices_without_repeats(value, count):
    chosen = visible.choose(value, [f"GPU-a{number}" for number in range(count)]).chosen
    assert len(set(chosen)) == len(chosen)
    assert all(0 <= position < count for position in chosen)


def _torch_reference(value, count):
    """The reading of numbers as PyTorch documents it: strtoul, stop at the first that is none, repeats mean nothing."""
    chosen = []
    for raw in value.split(","):
        text = raw.strip()
        digits = ""
        for position, char in enumerate(text):
            if not (char.isdigit() or (position == 0 and char in "+-")):
                break
            digits += char
        number = int(digits) if digits.strip("+-") else -1
        if number in chosen:
            return ()
        if number < 0 or number >= count:
            break
        chosen.append(number)
    return tuple(chosen)


@given(st.lists(st.from_regex(r"[+-]?[0-9]{0,2}[a-z]{0,2}", fullmatch=True), min_size=1, max_size=6))
def test_numbers_are_read_as_torch_reads_them(entries):
    value = ",".join(entries)
    if value.strip():
        assert visible.choose(value, [None] * 8).chosen == _torch_reference(value, 8)


def test_numbers_over_cards_that_differ_are_uncertain():
    devices = [rtx4090(0), rtx3060(1)]
    reading = read(devices, {"CUDA_VISIBLE_DEVICES": "1"})
    gpu = only(reading)
    assert gpu.memory_mib.certainty is Certainty.ESTIMATED
    assert gpu.name.certainty is Certainty.ESTIMATED
    assert "PCI_BUS_ID" in reading.notes[0]
    assert reading.number.value == 1


@pytest.mark.parametrize(
    "environ",
    [
        {"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"},
        {"CUDA_VISIBLE_DEVICES": "GPU-306"},
        {"CUDA_VISIBLE_DEVICES": "1,0"},
        {},
    ],
)
def test_a_choice_that_cannot_be_mistaken_is_certain(environ):
    reading = read([rtx4090(0), rtx3060(1)], environ)
    assert all(gpu.memory_mib.certainty is Certainty.EXACT for gpu in reading.gpus)
    assert reading.notes == ()


def test_equal_cards_are_certain_whatever_the_numbers():
    reading = read([rtx4090(0), rtx4090(1)], {"CUDA_VISIBLE_DEVICES": "1"})
    assert only(reading).memory_mib.certainty is Certainty.EXACT
    assert only(reading).index == 0


# --- the matrix: kinds of machine x values of the variable ----------------------------------------------------------------


KINDS = {
    "no library": None,
    "error 9": ([rtx4090()], 9),
    "error 4": ([rtx4090()], 4),
    "error 18": ([rtx4090()], 18),
    "error 999": ([rtx4090()], 999),
    "0 GPUs": ([], 0),
    "1 GPU": ([rtx4090()], 0),
    "8 GPUs": ([rtx4090(number) for number in range(8)], 0),
    "MIG": ([a100_mig(2)], 0),
    "GB10": ([gb10()], 0),
}
VALUES = [None, "", "0", "1,0", "0,2,-1,1", "GPU-4090000", "GPU-40900003", "MIG-0", "MIG-00"]
EXPECTED = {
    "1 GPU": [1, 0, 1, 0, 1, 1, 0, 0, 0],
    "8 GPUs": [8, 0, 1, 2, 2, 0, 1, 0, 0],
    "MIG": [1, 0, 1, 0, 1, 0, 0, 0, 1],
    "GB10": [1, 0, 1, 0, 1, 0, 0, 0, 0],
}


@pytest.mark.parametrize(("kind", "position"), list(itertools.product(KINDS, range(len(VALUES)))))
def test_the_matrix(kind, position, tmp_path, monkeypatch):
    value = VALUES[position]
    environ = {} if value is None else {"CUDA_VISIBLE_DEVICES": value}
    root = machine(tmp_path, files={"/dev/nvidiactl": ""})
    if KINDS[kind] is None:
        import pynvml

        def refuse(*arguments):
            raise OSError

        monkeypatch.setattr(pynvml, "CDLL", refuse)
        library = None
    else:
        devices, code = KINDS[kind]
        library = FakeLib(devices, init=code)
    with installed(library):
        found, told = resolve_hardware(None, environ=environ, root=root, path=str(tmp_path))
        asked, _ = resolve_hardware("auto", environ=environ, root=root, path=str(tmp_path))
    expected = EXPECTED.get(kind, [0] * len(VALUES))[position]
    assert asked is not None
    assert len(asked.gpus) == expected
    assert asked.cpu.usable.value == 16.0
    if expected:
        assert found == asked
    else:
        # no usable GPU is the same as a laptop without one: no machine, one line, no failure
        assert found is None
        assert told.startswith("hardware: none (")
        assert "--hardware" in told
        assert "\n" not in told


# --- without the binding, and the cheap probe ---------------------------------------------------------------------------


@pytest.fixture
def no_binding(monkeypatch):
    real = builtins.__import__

    def refuse(name, *arguments, **options):
        if name == "pynvml":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.delitem(sys.modules, "pynvml", raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)


INFORMATION = "Model: \t\t {name}\nIRQ:   \t\t 40\nGPU UUID: \t {uuid}\nBus Location: \t 0000:01:00.0\n"


def test_without_the_binding_the_drivers_folder_gives_names(no_binding, tmp_path):
    folder = "/proc/driver/nvidia/gpus"
    files = {
        f"{folder}/0000:01:00.0/information": INFORMATION.format(
            name="NVIDIA GeForce RTX 4090", uuid="GPU-1"
        ),
        f"{folder}/0000:02:00.0/information": INFORMATION.format(
            name="NVIDIA GeForce RTX 3060", uuid="GPU-2"
        ),
    }
    write(tmp_path, files)
    reading = read_gpus(tmp_path, {"CUDA_VISIBLE_DEVICES": "GPU-2,GPU-1"}, RAM)
    assert [gpu.name.value for gpu in reading.gpus] == ["NVIDIA GeForce RTX 3060", "NVIDIA GeForce RTX 4090"]
    assert not reading.gpus[0].memory_mib.known
    assert reading.gpus[1].memory_mib.certainty is Certainty.ESTIMATED
    assert reading.gpus[1].memory_mib.value == 24564
    assert "nvidia-ml-py" in reading.notes[0]


def test_without_the_binding_shared_memory_is_that_of_the_machine(no_binding, tmp_path):
    text = INFORMATION.format(name="NVIDIA GB10", uuid="GPU-1")
    write(tmp_path, {"/proc/driver/nvidia/gpus/000f:01:00.0/information": text})
    gpu = only(read_gpus(tmp_path, {}, RAM))
    assert gpu.memory_mib.value == 124_600
    assert gpu.unified_memory


def test_without_the_binding_a_device_alone_is_said(no_binding, tmp_path):
    write(tmp_path, {"/dev/nvidiactl": ""})
    reading = read_gpus(tmp_path, {}, RAM)
    assert not reading.number.known
    assert "nvidia-ml-py" in reading.notes[0]


def test_without_binding_and_device_there_is_no_gpu(no_binding, tmp_path):
    assert read_gpus(tmp_path, {}, RAM).number.value == 0


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, False),
        ({"/dev/nvidiactl": ""}, True),
        ({"/proc/driver/nvidia/version": "x"}, True),
        ({"/dev/nvhost-gpu": ""}, True),
        ({"/dev/dxg": ""}, False),
        ({"/dev/dxg": "", "/usr/lib/wsl/lib/libnvidia-ml.so.1": ""}, True),
        ({"/dev/kfd": ""}, False),
    ],
)
def test_the_cheap_probe(tmp_path, files, expected):
    write(tmp_path, files)
    assert has_nvidia_device(tmp_path) is expected


def test_without_a_device_the_driver_is_not_asked(tmp_path, monkeypatch):
    monkeypatch.setattr("cfgfix.hardware.detect.read_gpus", None)
    hardware = detect(root=machine(tmp_path), environ={}, path=str(tmp_path))
    assert hardware.gpu_count.value == 0


def test_an_amd_card_is_said_to_be_named(tmp_path):
    root = machine(tmp_path, files={"/dev/kfd": ""})
    assert any("mi300x" in note for note in detect(root=root, environ={}, path=str(tmp_path)).notes)


@pytest.mark.parametrize(
    ("text", "expected"), [("", None), ("1024", 1024), ("0", 0), ("many", None), ("-1", None)]
)
def test_tensorflows_reserve(text, expected):
    assert tf_reserve({"TF_DEVICE_MIN_SYS_MEMORY_IN_MB": text}).value == expected
    assert not tf_reserve({}).known


def test_an_answer_of_the_wrong_kind_is_a_missing_one(monkeypatch):
    import pynvml

    for name in ("nvmlDeviceGetName", "nvmlDeviceGetUUID"):
        monkeypatch.setattr(pynvml, name, lambda handle: b"bytes of an old binding")
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCudaComputeCapability", lambda handle: None)
    monkeypatch.delattr(pynvml, "nvmlDeviceGetMaxPcieLinkWidth")
    gpu = only(read([rtx4090()]))
    assert gpu.name.value == "bytes of an old binding"
    assert not gpu.compute_capability.known


def test_a_binding_that_breaks_is_a_missing_answer(monkeypatch):
    import pynvml

    def broken(*arguments):
        raise ValueError("broken")

    monkeypatch.setattr(pynvml, "nvmlDeviceGetCount", broken)
    reading = read([rtx4090()])
    assert not reading.number.known
    assert "broken" in reading.notes[0]


def test_system_memory_unknown_leaves_shared_memory_unknown():
    with installed(FakeLib([gb10()])):
        gpu = only(read_gpus("/", {}, unknown("hidden")))
    assert not gpu.memory_mib.known


# --- a library of C, end to end -----------------------------------------------------------------------------------------

C_LIBRARY = r"""
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
typedef struct { unsigned int version; unsigned long long total, reserved, free, used; } memory_v2;
static int number(const char *name, int otherwise) { char *text = getenv(name); return text ? atoi(text) : otherwise; }
int nvmlInitWithFlags(unsigned int flags) { return number("FAKE_INIT", 0); }
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int code) { return "fake"; }
int nvmlDeviceGetCount_v2(unsigned int *count) { *count = number("FAKE_COUNT", 1); return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **handle) { *handle = (void *)(long)(index + 1); return 0; }
int nvmlDeviceGetName(void *handle, char *name, unsigned int size) { strncpy(name, "NVIDIA A100-SXM4-80GB", size); return 0; }
int nvmlDeviceGetUUID(void *handle, char *uuid, unsigned int size) { snprintf(uuid, size, "GPU-%ld", (long)handle); return 0; }
int nvmlDeviceGetCudaComputeCapability(void *handle, int *major, int *minor) { *major = 8; *minor = 0; return 0; }
int nvmlDeviceGetMemoryInfo_v2(void *handle, memory_v2 *memory) {
    memory->total = 81920ULL << 20; memory->reserved = 769ULL << 20; memory->free = 80000ULL << 20; return 0;
}
int nvmlDeviceGetMigMode(void *handle, unsigned int *now, unsigned int *later) { *now = *later = 0; return 0; }
"""

SCRIPT = """
import sys
from cfgfix.hardware.presets import resolve_hardware
hardware, told = resolve_hardware(None, root=sys.argv[1], path=sys.argv[1])
print(told)
if hardware is not None:
    print([(gpu.id, gpu.memory_mib.value, gpu.memory_mib.source, gpu.uuid) for gpu in hardware.gpus])
"""


@pytest.fixture(scope="module")
def c_library(tmp_path_factory):
    compiler = shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("no gcc on Linux to build the fake library with")
    folder = tmp_path_factory.mktemp("library")
    (folder / "fake.c").write_text(C_LIBRARY)
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-w", "-o", folder / "libnvidia-ml.so.1", folder / "fake.c"],
        check=True,
    )
    return folder


def run_script(folder, root, **environ):
    home = Path(gpu_module.__file__).resolve().parents[2]
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("CUDA_", "SLURM_"))}
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, str(root)],
        env={**clean, "LD_LIBRARY_PATH": str(folder), "PYTHONPATH": str(home), **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout.splitlines()


def test_a_library_of_c_end_to_end(c_library, tmp_path):
    root = machine(tmp_path, files={"/dev/nvidiactl": ""})
    told, gpus = run_script(c_library, root, FAKE_COUNT="2", CUDA_VISIBLE_DEVICES="1")
    assert told == "hardware: this machine (NVIDIA A100-SXM4-80GB, 16 CPUs, 64 GiB RAM)"
    assert gpus == str([("a100-sxm4-80gb", 81920 - 769, "NVML memory v2: total less reserved", "GPU-2")])


def test_a_library_of_c_that_refuses(c_library, tmp_path):
    root = machine(tmp_path, files={"/dev/nvidiactl": ""})
    (told,) = run_script(c_library, root, FAKE_INIT="18")
    assert "restart the machine (NVML error 18)" in told
