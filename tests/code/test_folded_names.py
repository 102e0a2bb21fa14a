"""Names of libraries in their canonical form."""

from __future__ import annotations

import pytest

from cfgfix.code.model.canonical_names import canonical_name


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("tensorflow.keras.layers.Layer", "keras.Layer"),
        ("keras.layers.Layer.add_weight", "keras.Layer.add_weight"),
        ("tensorflow.keras.layers.LayerNormalization", "keras.layers.LayerNormalization"),
        ("keras.models.Sequential.fit", "keras.Sequential.fit"),
        ("keras.models.SequentialOfSomeone", "keras.models.SequentialOfSomeone"),
        ("keras.preprocessing.image_dataset_from_directory", "keras.utils.image_dataset_from_directory"),
        ("keras.layers.experimental.preprocessing.Rescaling", "keras.layers.Rescaling"),
        ("tensorflow.metrics.Mean.result", "keras.metrics.Mean.result"),
        ("tensorflow.compat.v2.optimizers.schedules.CosineDecay", "keras.optimizers.schedules.CosineDecay"),
        ("tensorflow.losses.softmax_cross_entropy", "tensorflow.losses.softmax_cross_entropy"),
        ("tensorflow.compat.v1.losses.Reduction", "tensorflow.losses.Reduction"),
        ("os.path", "os.path"),
    ],
)
def test_moved_names_are_folded_and_longer_ones_left(written, canonical):
    assert canonical_name(written) == canonical
