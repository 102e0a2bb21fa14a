from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgfix.core.suggest import closest, confusable_form, distance, only_match


@pytest.mark.parametrize(
    ("name", "candidates", "meant"),
    [
        ("trainig", ["training", "model", "data"], "training"),
        ("lerning_rate", ["learning_rate", "min_learning_rate"], "learning_rate"),
        ("enbale", ["enable"], "enable"),
        ("batchsize", ["batch_size", "max_size"], "batch_size"),
        ("batch-size", ["batch_size"], "batch_size"),
        ("BatchSize", ["batch_size"], "batch_size"),
        ("n_mel", ["n_mels", "n_fft"], "n_mels"),
        ("nunRuns", ["numRuns"], "numRuns"),
        ("record-length", ["record_length"], "record_length"),
        ("size_batch", ["batch_size"], "batch_size"),
        ("enable_mixed_precision", ["mixed_precision", "enable_xla"], "mixed_precision"),
        ("adamW", ["adam", "adamw", "AdamW"], "adamw"),
        ("epoch", ["epochs", "eps"], "epochs"),
        ("max_epochs", ["epochs", "eps"], "epochs"),
        ("mel_lost_weight", ["mel_loss_weight", "kl_loss_weight"], "mel_loss_weight"),
    ],
)
def test_slips_are_understood(name, candidates, meant):
    assert only_match(name, candidates) == meant


@pytest.mark.parametrize(
    ("name", "candidates"),
    [
        ("lr", ["learning_rate", "n_mels"]),
        ("vocoder_type", ["decoder_dim", "languages"]),
        ("beta3", ["beta1", "beta2"]),
        ("adamm", ["adam", "adamw"]),
        ("min_audio_length", ["max_audio_length"]),
        ("label_smoothing_factor", ["loss_smoothing_factor"]),
        ("validation_interval", ["evaluation_interval"]),
        ("stage1_epochs", ["epochs"]),
        ("beta2", ["beta1"]),
        ("vocoder_mel_loss_weight", ["mel_loss_weight"]),
        ("speaker_embedding", ["speaker_embedding_dim"]),
        ("train_split", ["val_split"]),
        ("", ["a"]),
        ("x" * 200, ["x" * 199]),
        ("ab", ["ac"]),
    ],
)
def test_no_guess_without_a_reason(name, candidates):
    assert only_match(name, candidates) is None


def test_several_near_names_are_all_listed():
    assert closest("rates", ["rate", "rated", "eps"]) == ["rate", "rated"]


def test_a_swap_is_one_edit():
    assert distance("epohcs", "epochs", 3) == 1


names = st.text("abc_", max_size=8)


@given(names, names)
def test_distance_is_symmetric_and_zero_only_for_equal_names(first, second):
    there = distance(first, second, 20)
    assert there == distance(second, first, 20)
    assert (there == 0) == (first == second)
    assert there <= max(len(first), len(second))
    assert distance(first, second, 2) == min(there, 3)


@given(names, st.lists(names))
def test_suggestions_come_from_the_candidates(name, candidates):
    found = closest(name, candidates)
    assert len(found) <= 3
    assert set(found) <= set(candidates)
    assert name not in found
    assert all(confusable_form(each) for each in found)
