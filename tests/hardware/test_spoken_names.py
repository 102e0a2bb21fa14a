"""Cards by the names of schedulers and clouds."""

from __future__ import annotations

import pytest

from cfgfix.hardware.spoken_names import spoken_card, spoken_machine

CARDS = {
    "nvidia-tesla-t4": "t4",
    "NVIDIA-A100-SXM4-40GB": "a100-sxm4-40gb",
    "A100_PCIE_80GB": "a100-pcie-80gb",
    "NVIDIA-GeForce-RTX-3090": "rtx3090",
    "rtx_2080_ti": "rtx2080ti",
    "1080ti": "gtx1080ti",
    "Tesla-V100-SXM2-32GB": "v100-sxm2-32gb",
    "quadro_rtx_6000": "quadro-rtx-6000",
}


@pytest.mark.parametrize("name", CARDS)
def test_a_whole_name_means_one_card(name):
    card = spoken_card(name)
    assert card is not None
    assert (card.card, card.said) == (CARDS[name], "")


@pytest.mark.parametrize(("name", "memory"), [("v100", 32), ("a100", 80), ("h100", 94), ("rtx3080", 12)])
def test_a_name_of_several_cards_means_the_largest(name, memory):
    from cfgfix.hardware.table import find_gpu

    card = spoken_card(name)
    assert card is not None
    assert card.said == name
    row = find_gpu(card.card)
    assert row is not None
    assert row.memory_gib == memory


@pytest.mark.parametrize("name", ["", "gpu", "1", "1g.5gb", "rtx6000", "skylake", "highmem"])
def test_other_words_mean_none(name):
    assert spoken_card(name) is None


def test_a_machine_of_a_cloud_has_its_card():
    assert [
        getattr(spoken_machine(name), "card", None)
        for name in ("g4dn.xlarge", "Standard_NC6s_v3", "m5.large")
    ] == [
        "t4",
        "v100-pcie-16gb",
        None,
    ]
