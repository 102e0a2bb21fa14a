"""The table of the models of `keras.applications`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cfgfix.code.tensorflow.applications import TABLE, application
from cfgfix.code.tensorflow.layers.sizes import UNKNOWN, UnknownSize

DOCUMENTED = {
    "ConvNeXtTiny": 28_589_128,
    "DenseNet121": 8_062_504,
    "EfficientNetB0": 5_330_571,
    "EfficientNetV2B0": 7_200_312,
    "InceptionV3": 23_851_784,
    "MobileNet": 4_253_864,
    "MobileNetV2": 3_538_984,
    "ResNet50": 25_636_712,
    "ResNet50V2": 25_613_800,
    "VGG16": 138_357_544,
    "Xception": 22_910_480,
}
"""Weights with a top of 1,000 classes, as Keras prints them."""
SIDES = {"InceptionV3": 299, "Xception": 299}
NAMES = list(json.loads(Path(TABLE).read_text(encoding="utf-8"))["applications"])


@pytest.mark.parametrize("name", DOCUMENTED)
def test_weights_are_those_that_keras_documents(name):
    made = application(name, {"weights": None})
    side = SIDES.get(name, 224)
    assert made.input_shape() == (side, side, 3)
    sizes = made.sizes((made.input_shape(),))
    assert sizes.trainable + sizes.fixed == DOCUMENTED[name]
    assert sizes.outputs == ((1000,),)


@pytest.mark.parametrize("name", NAMES)
def test_larger_inputs_need_more(name):
    made = application(name, {"include_top": False})
    assert made.input_shape() == (None, None, 3)
    small, large = made.sizes(((192, 192, 3),)), made.sizes(((384, 384, 3),))
    assert small.trainable == large.trainable
    assert 3 < large.extra / small.extra < 6
    assert large.output[0] > small.output[0] >= 1
    assert made.sizes(((384, 192, 3),)).output[:2] == (large.output[0], small.output[1])


def test_what_is_left_open_stays_open():
    made = application("ResNet50", {"include_top": False, "input_shape": [None, None, 3]})
    assert made.sizes((made.input_shape(),)).outputs == ((None, None, 2048),)
    pooled = application("ResNet50", {"include_top": False, "pooling": "max"})
    assert pooled.sizes(((64, 80, 3),)).outputs == ((2048,),)


@pytest.mark.parametrize(
    ("name", "given", "shape"),
    [
        ("ResNet51", {}, (224, 224, 3)),
        ("MobileNetV2", {"alpha": 0.75}, (224, 224, 3)),
        ("MobileNetV2", {"input_tensor": UNKNOWN}, (224, 224, 3)),
        ("ResNet50", {"include_top": UNKNOWN}, (224, 224, 3)),
        ("ResNet50", {"classes": -1}, (224, 224, 3)),
        ("ResNet50", {"input_shape": [224, 3]}, (224, 224, 3)),
        ("ResNet50", {}, (224, 224, 1)),
        ("ResNet50", {}, (16, 16, 3)),
        ("ResNet50", {}, (4096, 4096, 3)),
        ("ResNet50", {}, (224,)),
    ],
)
def test_what_the_table_does_not_have_has_no_size(name, given, shape):
    with pytest.raises(UnknownSize):
        application(name, given).sizes((shape,))
