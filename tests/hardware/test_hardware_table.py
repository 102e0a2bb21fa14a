from __future__ import annotations

import sys
from collections import Counter

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from scripts import load_script

from cfgfix.hardware import _table_data, table
from cfgfix.hardware.model import TIERS_GIB, has_nominal_size
from cfgfix.hardware.table import (
    Match,
    device_facts,
    find_gpu,
    find_machine,
    gpu_rows,
    machine_rows,
    match,
    normalise,
)

ROWS = gpu_rows()


@pytest.fixture(scope="module")
def tool():
    return load_script("tools/make_gpu_table.py")


def test_nothing_was_lost():
    assert len(ROWS) == len(_table_data.GPUS) == 157
    assert len(machine_rows()) == len(_table_data.MACHINES) == 122
    assert Counter(row.vendor for row in ROWS) == {"nvidia": 134, "apple": 15, "amd": 8}


def test_ids_and_aliases_are_unique_after_normalising():
    keys = [normalise(key) for row in ROWS for key in (row.id, *row.aliases)]
    keys += [normalise(machine.id) for machine in machine_rows()]
    assert [key for key, count in Counter(keys).items() if count > 1] == []


def test_driver_totals_lie_in_the_class_of_the_card():
    for row in ROWS:
        for total in filter(None, (row.nvml_total_mib, *row.nvml_total_mib_also_seen)):
            assert 0.92 <= total / 1024 / row.memory_gib <= 1.0, row.id
            assert row.fits(total)
            for tier in TIERS_GIB:
                assert has_nominal_size(tier, total / 1024) == (row.memory_gib >= tier), (row.id, tier)


def test_facts_do_not_contradict_each_other():
    for row in ROWS:
        if "bf16" in row.tensor_dtypes and row.vendor == "nvidia":
            assert row.compute_capability >= (8, 0), row.id
        if not row.tensor_cores:
            assert row.fp16_dense_tflops is None, row.id
            assert row.bf16_dense_tflops is None, row.id
            assert row.tensor_dtypes == (), row.id
        assert row.confidence in {"high", "medium", "low"}
        assert (row.compute_capability is None) == (row.vendor != "nvidia"), row.id


def test_every_machine_has_cards_of_the_table():
    for machine in machine_rows():
        assert machine.gpu is None or find_gpu(machine.gpu) is not None, machine.id
        assert (machine.gpu is None) == (machine.gpu_count == 0), machine.id
        assert machine.sources, machine.id


def test_provenance_is_kept():
    sources = dict(_table_data.SOURCES)
    assert sources["nvidia-cc"].startswith("https://developer.nvidia.com/cuda-gpus")
    assert "never filled by a guess" in dict(_table_data.CONVENTIONS)["null_means"]
    used = {check.partition(":")[2] for row in ROWS for check in row.checked}
    assert used - {""} <= set(sources) | {"karpenter"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rtx4090", "rtx4090"),
        ("RTX 4090", "rtx4090"),
        ("rtx_4090", "rtx4090"),
        ("a100", "a100-sxm4-40gb"),
        ("A100-80GB", "a100-sxm4-80gb"),
        ("h100", "h100-sxm"),
        ("a6000", "rtx-a6000"),
        ("rtx 6000 ada", "rtx-6000-ada"),
        ("b200", "b200"),
        ("gb200", "gb200"),
    ],
)
def test_ids_and_aliases(text, expected):
    assert find_gpu(text).id == expected


def test_no_substring_matches():
    assert find_gpu("rtx") is None
    assert find_gpu("4090") is None
    assert find_machine("aws-g5") is None
    assert match("NVIDIA", None).rows == ()


@pytest.mark.parametrize(
    ("name", "total", "expected"),
    [
        ("NVIDIA GeForce RTX 2060", 6144, ["rtx2060"]),
        ("NVIDIA GeForce RTX 2060", 12288, ["rtx2060-12gb"]),
        ("NVIDIA GeForce RTX 3080", 10240, ["rtx3080-10gb"]),
        ("NVIDIA GeForce RTX 3080", 12288, ["rtx3080-12gb"]),
        ("NVIDIA GeForce RTX 4060 Ti", 16380, ["rtx4060ti-16gb"]),
        ("NVIDIA GeForce RTX 4060 Ti", 8188, ["rtx4060ti-8gb"]),
        ("NVIDIA GeForce RTX 5060 Ti", 16311, ["rtx5060ti-16gb"]),
        ("GeForce RTX 3090", 24268, ["rtx3090"]),
        ("nvidia  geforce rtx 3090", 24576, ["rtx3090"]),
        ("TITAN V", 12288, ["titan-v"]),
        ("Tesla T4", 15109, ["t4"]),
        ("NVIDIA GB200", 189471, ["gb200"]),
        ("NVIDIA B200", 183359, ["b200"]),
        ("NVIDIA L40S", 46068, ["l40s"]),
        ("NVIDIA L4", 23034, ["l4"]),
        ("NVIDIA RTX A4000", 16376, ["rtx-a4000"]),
        ("NVIDIA A40", 46068, ["a40"]),
        ("Quadro RTX 6000", 24576, ["quadro-rtx-6000"]),
        ("NVIDIA RTX 6000 Ada Generation", 49140, ["rtx-6000-ada"]),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", 16376, ["rtx4090-laptop"]),
        ("NVIDIA T4", 15360, []),
        ("NVIDIA H200 141GB HBM3e", 144384, []),
        ("GRID A100D-20C", 20480, []),
        ("", 1000, []),
    ],
)
def test_driver_names(name, total, expected):
    found = match(name, total)
    assert [row.id for row in found.rows] == expected
    assert found.whole or expected == []


def test_laptop_cards_are_other_cards():
    desktop, laptop = find_gpu("rtx4090"), find_gpu("rtx4090-laptop")
    assert (desktop.memory_gib, laptop.memory_gib) == (24, 16)


def test_a_name_of_several_cards_keeps_what_they_share():
    found = device_facts(match("NVIDIA GeForce RTX 3060", None), "NVIDIA GeForce RTX 3060")
    assert found.id is None
    assert found.tensor_cores.value is True
    assert found.compute_capability.value == (8, 6)
    assert not found.nominal_gib.known
    assert "rtx3060-12gb" in found.nominal_gib.source


def test_disputed_facts_stay_unknown():
    found = device_facts(Match((find_gpu("a10g"),), whole=True), "NVIDIA A10G")
    assert not found.fp16_tflops.known
    assert "disputed" in found.fp16_tflops.source


def test_derived_rates_are_estimates():
    quoted = device_facts(Match((find_gpu("rtx4090"),), whole=True), "-")
    derived = device_facts(Match((find_gpu("titan-v"),), whole=True), "-")
    assert quoted.fp16_tflops.certainty.value == "exact"
    assert derived.fp16_tflops.certainty.value == "estimated"


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("rtx490", "rtx4090"),
        ("a1000", "a100-sxm4-40gb"),
        ("awsg5xlarg", "aws-g5-xlarge"),
        ("v10", "v100-sxm2-16gb"),
    ],
)
def test_suggestions(text, best):
    assert best in table.suggestions(text)


@given(st.text(max_size=40))
def test_any_text_is_looked_up_without_failing(text):
    find_gpu(text)
    match(text, 1000)
    assert len(table.suggestions(text)) <= 3


def test_the_tool_goes_both_ways(tool, tmp_path):
    exported = tmp_path / "gpus.yaml"
    target = tmp_path / "data.py"
    assert tool.main(["--export", str(exported)]) == 0
    assert tool.main([str(exported), "--target", str(target)]) == 0
    assert target.read_text(encoding="utf-8") == tool.TARGET.read_text(encoding="utf-8")
    assert tool.main([str(exported), "--check"]) == 0
    changed = yaml.safe_load(exported.read_text(encoding="utf-8"))
    changed["gpus"][0]["memory_gib"] = 1
    exported.write_text(yaml.safe_dump(changed), encoding="utf-8")
    assert tool.main([str(exported), "--check"]) == 1


def test_the_tool_refuses_what_it_has_no_column_for(tool):
    entry = {**tool.unpack(_table_data)["gpus"][0]}
    with pytest.raises(SystemExit, match="no column for colour"):
        tool.pack_gpu({**entry, "colour": "green"})
    with pytest.raises(SystemExit, match="must be quoted"):
        tool.pack_gpu({**entry, "compute_capability": 6.1})
    with pytest.raises(SystemExit, match="amd_names on a card of nvidia"):
        tool.pack_gpu({**entry, "amd_names": ["x"]})


def test_the_table_is_that_of_the_collected_facts(tool, shared_path):
    assert tool.main([str(shared_path / "hardware" / "gpus.yaml"), "--check"]) == 0
    assert tool.unpack(_table_data) == yaml.safe_load(
        (shared_path / "hardware" / "gpus.yaml").read_text(encoding="utf-8")
    )


def test_the_table_is_read_once(monkeypatch):
    first = find_gpu("rtx4090")
    monkeypatch.setitem(sys.modules, "cfgfix.hardware._table_data", None)
    assert find_gpu("rtx4090") == first
