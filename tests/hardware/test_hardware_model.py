from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgfix.core.records import replace
from cfgfix.hardware import model
from cfgfix.hardware.model import (
    CARD_FIELDS,
    NAMES,
    TIERS_GIB,
    VOLATILE,
    Certainty,
    Value,
    estimated,
    exact,
    has_nominal_size,
    is_name,
    memory_class,
    tensorflow_reserve_mib,
    unknown,
)
from cfgfix.hardware.presets import parse_profile
from cfgfix.hardware.profile_files import from_mapping


def values(hardware, *names):
    return [hardware.lookup(name).value for name in names]


def test_a_value_is_known_or_says_why_not():
    assert exact(1, "s").known
    assert estimated(1, "s").known
    assert not unknown("why").known
    assert unknown("why").source == "why"
    with pytest.raises(AttributeError):
        exact(1, "s").value = 2


def test_lookup_of_a_full_profile():
    hardware = parse_profile("rtx4090x2,cpus=16,ram=64,storage=nvme,shm=64")
    assert values(hardware, "cpu.usable", "memory.ram_gib", "memory.ram_mib", "shm_mib", "storage.kind") == [
        16.0,
        64.0,
        65536.0,
        64.0,
        "nvme",
    ]
    assert values(hardware, "gpu.count", "gpu.name", "gpu.memory_mib", "gpu.nominal_gib", "gpu.cc") == [
        2,
        "NVIDIA GeForce RTX 4090",
        24564,
        24.0,
        89,
    ]
    assert values(hardware, "gpu.tensor_cores", "gpu.bf16", "gpu.tf32", "gpu.mixed", "gpu.mig") == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert values(hardware, "gpus[1].memory_mib", "gpus[0].cc") == [24564, 89]
    assert hardware.lookup("gpu.memory_gib").value == pytest.approx(24564 / 1024)
    assert hardware.lookup("cpu.limited_by").value == "cpus=16 of the profile"


def test_every_name_answers_for_every_kind_of_machine():
    machines = [
        parse_profile(text)
        for text in ("rtx4090x2,cpus=16", "cpu", "mi250", "apple-m1", "aws-g6f-large", "colab-t4")
    ]
    machines.append(from_mapping({"gpus": [{"id": "rtx4090"}, {"id": "gtx1660"}]}, "mixed.yaml"))
    for hardware in machines:
        for name in (*NAMES, *(f"gpus[0].{field}" for field in CARD_FIELDS)):
            value = hardware.lookup(name)
            assert isinstance(value, Value), name
            assert value.source, name
            assert (value.value is None) == (value.certainty is Certainty.UNKNOWN), name
            assert is_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "gpu",
        "gpu.nope",
        "cpu",
        "gpus",
        "gpus[].cc",
        "gpus[x].cc",
        "gpus[0]",
        "gpus[0].nope",
        "gpus[-1].cc",
        "gpus[99999].cc",
        "__class__",
    ],
)
def test_names_that_do_not_exist(name):
    assert parse_profile("rtx4090").lookup(name) is None
    assert not is_name(name)


def test_a_card_that_is_not_there_is_unknown_and_says_so():
    value = parse_profile("rtx4090").lookup("gpus[3].cc")
    assert not value.known
    assert "none with the index 3" in value.source


def test_the_card_that_bounds_a_run_decides():
    hardware = from_mapping({"gpus": [{"id": "rtx4090"}, {"id": "gtx1660"}, {"id": "v100"}]}, "three.yaml")
    assert values(hardware, "gpu.count", "gpu.memory_mib", "gpu.cc", "gpu.tensor_cores", "gpu.bf16") == [
        3,
        6144,
        70,
        False,
        False,
    ]
    assert hardware.lookup("gpu.name").value == "NVIDIA GeForce GTX 1660"
    assert "smallest of 3" in hardware.lookup("gpu.name").source
    assert "least of 3 different cards" in hardware.lookup("gpu.memory_mib").source
    assert hardware.lookup("gpu.mixed").value is True
    assert hardware.reaches(6) is True
    assert hardware.reaches(8) is False


def test_one_unknown_card_makes_the_least_unknown_but_not_a_missing_feature():
    entries = [{"id": "gtx1660"}, {"name": "NVIDIA Novelty"}]
    hardware = from_mapping({"gpus": entries}, "x.yaml")
    assert not hardware.lookup("gpu.memory_mib").known
    assert hardware.lookup("gpu.tensor_cores").value is False
    assert hardware.reaches(4) is None
    assert hardware.reaches(8) is False


def test_without_gpus_the_cards_are_unknown_and_the_count_is_zero():
    hardware = parse_profile("cpu")
    assert hardware.lookup("gpu.count").value == 0
    assert hardware.lookup("gpu.memory_mib").source == "cpu has no GPU"
    assert hardware.reaches(4) is None


@pytest.mark.parametrize(
    ("available", "cc", "reserve"),
    [
        (2047, (8, 9), 225),
        (2048, (3, 5), 500),
        (8192, (6, 1), 500),
        (15360, (7, 5), 1050),
        (24564, (8, 9), 1536),
        (81559, (9, 0), 1800),
        (32607, (12, 0), 1800),
    ],
)
def test_tensorflows_reserve(available, cc, reserve):
    assert tensorflow_reserve_mib(available, cc) == reserve


def test_usable_memory():
    hardware = parse_profile("rtx4090")
    value = hardware.lookup("gpu.usable_mib")
    assert value.value == 24564 - 1536
    assert value.certainty is Certainty.ESTIMATED
    assert hardware.lookup("gpu.usable_gib").value == pytest.approx(22.5, abs=0.05)
    stated = replace(hardware, tf_reserve_mib=exact(4000, "TF_DEVICE_MIN_SYS_MEMORY_IN_MB=4000"))
    assert stated.lookup("gpu.usable_mib").value == 20564
    assert "TF_DEVICE_MIN_SYS_MEMORY_IN_MB" in stated.lookup("gpu.usable_mib").source
    huge = replace(hardware, tf_reserve_mib=exact(99999, "-"))
    assert huge.lookup("gpu.usable_mib").value == 0
    assert not parse_profile("mi300x").lookup("gpu.usable_mib").known


@pytest.mark.parametrize(
    ("total_mib", "expected"),
    [(15109, 16), (15360, 16), (23028, 24), (46068, 48), (6144, 6), (3500, None), (81559, 80), (143771, 141)],
)
def test_memory_class(total_mib, expected):
    assert memory_class(total_mib / 1024) == expected


@given(st.floats(0, 400), st.sampled_from(TIERS_GIB))
def test_the_class_is_the_largest_tier_that_is_reached(total, tier):
    found = memory_class(total)
    if has_nominal_size(tier, total):
        assert found is not None
        assert found >= tier
    elif found is not None:
        assert found < tier


def test_the_fingerprint_is_of_the_facts_and_not_of_the_moment():
    hardware = parse_profile("rtx4090x2,cpus=16")
    again = parse_profile("rtx4090x2,cpus=16")
    assert hardware.fingerprint() == again.fingerprint()
    assert hardware.fingerprint() != parse_profile("rtx4090x2,cpus=8").fingerprint()
    busy = tuple(replace(gpu, free_mib=exact(17, "NVML")) for gpu in hardware.gpus)
    memory = replace(hardware.memory, available_mib=exact(5.0, "-"))
    assert replace(hardware, gpus=busy, memory=memory).fingerprint() == hardware.fingerprint()
    for name in VOLATILE:
        assert is_name(name)


def test_the_fingerprint_does_not_depend_on_the_process():
    code = "from cfgfix.hardware.presets import parse_profile as p; print(p('aws-g5-xlarge,cpus=3').fingerprint())"
    home = str(Path(model.__file__).resolve().parents[2])
    out = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": home, "PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert out.stdout.strip() == parse_profile("aws-g5-xlarge,cpus=3").fingerprint()


@pytest.mark.parametrize(
    ("code", "forbidden"),
    [
        (
            "import cfgfix.hardware.model",
            {
                "json",
                "yaml",
                "psutil",
                "pynvml",
                "hashlib",
                "difflib",
                "subprocess",
                "ctypes",
                "cfgfix.hardware.table",
            },
        ),
        (
            "from cfgfix.hardware.presets import resolve_hardware; resolve_hardware(None, environ={}, root='/nowhere')",
            {"json", "yaml", "psutil", "pynvml", "dataclasses", "cfgfix.hardware.model", "hashlib"},
        ),
        (
            "from cfgfix.hardware.presets import parse_profile; parse_profile('rtx4090x2,cpus=8').lookup('gpu.memory_mib')",
            {"json", "yaml", "psutil", "pynvml", "hashlib", "difflib", "subprocess", "ctypes"},
        ),
        (
            "from cfgfix.hardware.detect import detect; detect(root='/')"
            if not Path("/dev/nvidiactl").exists()
            else "",
            {"json", "yaml", "pynvml", "subprocess", "tensorflow"}
            | ({"psutil"} if sys.platform == "linux" else set()),
        ),
    ],
)
def test_what_is_not_needed_is_not_imported(code, forbidden):
    home = str(Path(model.__file__).resolve().parents[2])
    script = f"{code}\nimport sys; print(' '.join(sys.modules))"
    out = subprocess.run(
        [sys.executable, "-S", "-c", script],
        env={"PYTHONPATH": home},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not forbidden & set(out.stdout.split())


def test_records_compare_by_content_and_show_it():
    one, same, other = parse_profile("rtx4090"), parse_profile("rtx4090"), parse_profile("rtx4090x2")
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != "rtx4090"
    assert exact(1, "s") != exact(2, "s")
    assert repr(exact(1, "s")) == "Value(value=1, source='s', certainty=<Certainty.EXACT: 'exact'>)"
    assert "NVIDIA GeForce RTX 4090" in repr(one)
    with pytest.raises(AttributeError):
        one.label = "x"
