"""Shapes and weights of layers, held against Keras."""

from __future__ import annotations

from typing import Any

import pytest

from cfgfix.code.tensorflow.layers.all_layers import LAYERS, layer_sizes
from cfgfix.code.tensorflow.layers.sizes import Arguments, Layer, Named, UnknownSize

IMAGE = (12, 10, 4)
STEPS = (7, 6)
VIDEO = (5, 8, 9, 3)
ROW = (11,)

CASES: list[tuple[str, dict[str, Any], tuple[tuple[int, ...], ...]]] = [
    ("Dense", {"units": 5}, (ROW,)),
    ("Dense", {"units": 5, "use_bias": False, "activation": "relu"}, (STEPS,)),
    ("Embedding", {"input_dim": 50, "output_dim": 8}, ((7,),)),
    ("BatchNormalization", {}, (IMAGE,)),
    ("BatchNormalization", {"axis": 1, "scale": False}, (IMAGE,)),
    ("BatchNormalization", {"center": False}, (ROW,)),
    ("LayerNormalization", {}, (STEPS,)),
    ("LayerNormalization", {"axis": [1, 2], "center": False}, (STEPS,)),
    ("GroupNormalization", {"groups": 2}, (IMAGE,)),
    ("UnitNormalization", {}, (ROW,)),
    ("RMSNormalization", {}, (STEPS,)),
    ("Masking", {}, (STEPS,)),
    ("ActivityRegularization", {"l2": 0.1}, (ROW,)),
    ("Rescaling", {"scale": 0.5}, (IMAGE,)),
    ("Dropout", {"rate": 0.3}, (STEPS,)),
    ("SpatialDropout1D", {"rate": 0.3}, (STEPS,)),
    ("SpatialDropout2D", {"rate": 0.3}, (IMAGE,)),
    ("SpatialDropout3D", {"rate": 0.3}, (VIDEO,)),
    ("GaussianDropout", {"rate": 0.3}, (ROW,)),
    ("GaussianNoise", {"stddev": 0.3}, (ROW,)),
    ("AlphaDropout", {"rate": 0.3}, (ROW,)),
    ("Activation", {"activation": "tanh"}, (IMAGE,)),
    ("ReLU", {}, (IMAGE,)),
    ("Softmax", {}, (ROW,)),
    ("ELU", {}, (ROW,)),
    ("LeakyReLU", {}, (ROW,)),
    ("PReLU", {}, (STEPS,)),
    ("PReLU", {"shared_axes": [1, 2]}, (IMAGE,)),
    ("Flatten", {}, (IMAGE,)),
    ("Reshape", {"target_shape": [4, -1]}, (IMAGE,)),
    ("Reshape", {"target_shape": [6, 80]}, (IMAGE,)),
    ("Permute", {"dims": [2, 1]}, (STEPS,)),
    ("RepeatVector", {"n": 3}, (ROW,)),
    ("Add", {}, (IMAGE, IMAGE)),
    ("Add", {}, (IMAGE, (1, 1, 4))),
    ("Subtract", {}, (ROW, ROW)),
    ("Average", {}, (ROW, ROW, ROW)),
    ("Multiply", {}, (IMAGE, (1, 1, 4))),
    ("Maximum", {}, (ROW, ROW)),
    ("Minimum", {}, (ROW, ROW)),
    ("Concatenate", {}, (IMAGE, (12, 10, 9))),
    ("Concatenate", {"axis": 1}, (STEPS, (9, 6))),
    ("Concatenate", {"axis": -2}, (STEPS, (9, 6))),
    ("Dot", {"axes": 1}, (ROW, ROW)),
    ("Dot", {"axes": [2, 2]}, (STEPS, (9, 6))),
    ("Conv1D", {"filters": 5, "kernel_size": 3}, (STEPS,)),
    ("Conv1D", {"filters": 5, "kernel_size": 3, "padding": "causal", "dilation_rate": 2}, (STEPS,)),
    ("Conv2D", {"filters": 6, "kernel_size": 3, "strides": 2, "padding": "same"}, (IMAGE,)),
    ("Conv2D", {"filters": 6, "kernel_size": [3, 5], "strides": [2, 1], "use_bias": False}, (IMAGE,)),
    ("Conv2D", {"filters": 6, "kernel_size": 3, "groups": 2, "dilation_rate": [2, 1]}, (IMAGE,)),
    ("Conv3D", {"filters": 6, "kernel_size": 2, "activation": "gelu"}, (VIDEO,)),
    ("DepthwiseConv1D", {"kernel_size": 3, "depth_multiplier": 2}, (STEPS,)),
    ("DepthwiseConv2D", {"kernel_size": 3, "strides": 2, "padding": "same"}, (IMAGE,)),
    ("SeparableConv1D", {"filters": 9, "kernel_size": 3}, (STEPS,)),
    ("SeparableConv2D", {"filters": 9, "kernel_size": 3, "depth_multiplier": 2, "strides": 2}, (IMAGE,)),
    ("Conv1DTranspose", {"filters": 5, "kernel_size": 4, "strides": 3}, (STEPS,)),
    ("Conv2DTranspose", {"filters": 5, "kernel_size": 3, "strides": 2, "padding": "same"}, (IMAGE,)),
    ("Conv2DTranspose", {"filters": 5, "kernel_size": [1, 4], "strides": 3}, (IMAGE,)),
    ("Conv2DTranspose", {"filters": 5, "kernel_size": 3, "dilation_rate": 2}, (IMAGE,)),
    ("Conv3DTranspose", {"filters": 5, "kernel_size": 3, "strides": 2}, (VIDEO,)),
    ("MaxPooling1D", {}, (STEPS,)),
    ("MaxPooling2D", {"pool_size": 3, "strides": 2, "padding": "same"}, (IMAGE,)),
    ("MaxPooling3D", {"pool_size": [1, 2, 2]}, (VIDEO,)),
    ("AveragePooling1D", {"pool_size": 3, "strides": 1}, (STEPS,)),
    ("AveragePooling2D", {"pool_size": [2, 3]}, (IMAGE,)),
    ("AveragePooling3D", {"pool_size": 2}, (VIDEO,)),
    ("GlobalMaxPooling1D", {}, (STEPS,)),
    ("GlobalMaxPooling2D", {"keepdims": True}, (IMAGE,)),
    ("GlobalMaxPooling3D", {}, (VIDEO,)),
    ("GlobalAveragePooling1D", {}, (STEPS,)),
    ("GlobalAveragePooling2D", {}, (IMAGE,)),
    ("GlobalAveragePooling3D", {}, (VIDEO,)),
    ("ZeroPadding1D", {"padding": [1, 2]}, (STEPS,)),
    ("ZeroPadding2D", {"padding": [[1, 2], [0, 3]]}, (IMAGE,)),
    ("ZeroPadding2D", {"padding": [1, 2]}, (IMAGE,)),
    ("ZeroPadding3D", {"padding": 2}, (VIDEO,)),
    ("Cropping1D", {"cropping": [1, 2]}, (STEPS,)),
    ("Cropping2D", {"cropping": [[1, 2], [0, 3]]}, (IMAGE,)),
    ("Cropping3D", {"cropping": 1}, (VIDEO,)),
    ("UpSampling1D", {"size": 3}, (STEPS,)),
    ("UpSampling2D", {}, (IMAGE,)),
    ("UpSampling3D", {"size": [1, 2, 3]}, (VIDEO,)),
    ("Resizing", {"height": 6, "width": 7}, (IMAGE,)),
    ("CenterCrop", {"height": 6, "width": 7}, (IMAGE,)),
    ("RandomCrop", {"height": 6, "width": 7}, (IMAGE,)),
    ("RandomFlip", {}, (IMAGE,)),
    ("RandomRotation", {"factor": 0.1}, (IMAGE,)),
    ("RandomZoom", {"height_factor": 0.1}, (IMAGE,)),
    ("RandomTranslation", {"height_factor": 0.1, "width_factor": 0.1}, (IMAGE,)),
    ("RandomContrast", {"factor": 0.1}, (IMAGE,)),
    ("RandomBrightness", {"factor": 0.1}, (IMAGE,)),
    ("LSTM", {"units": 5}, (STEPS,)),
    ("LSTM", {"units": 5, "return_sequences": True, "return_state": True, "use_bias": False}, (STEPS,)),
    ("GRU", {"units": 5}, (STEPS,)),
    ("GRU", {"units": 5, "reset_after": False, "return_sequences": True}, (STEPS,)),
    ("SimpleRNN", {"units": 5, "return_state": True}, (STEPS,)),
    ("ConvLSTM1D", {"filters": 4, "kernel_size": 3}, ((5, 8, 3),)),
    ("ConvLSTM2D", {"filters": 4, "kernel_size": 3, "padding": "same", "return_sequences": True}, (VIDEO,)),
    ("ConvLSTM3D", {"filters": 2, "kernel_size": 2}, ((3, 4, 5, 6, 2),)),
    ("MultiHeadAttention", {"num_heads": 2, "key_dim": 3}, (STEPS, STEPS)),
    ("MultiHeadAttention", {"num_heads": 2, "key_dim": 3, "value_dim": 4, "use_bias": False}, (STEPS, (9, 5), (9, 8))),
    ("MultiHeadAttention", {"num_heads": 2, "key_dim": 3, "output_shape": 8, "dropout": 0.1}, (STEPS, (9, 5))),
    ("Attention", {"use_scale": True}, (STEPS, (9, 6))),
    ("AdditiveAttention", {}, (STEPS, (9, 6))),
    ("Bidirectional", {"layer": Layer("LSTM", Arguments({"units": 4}))}, (STEPS,)),
    ("Bidirectional", {"layer": Layer("GRU", Arguments({"units": 4, "return_sequences": True})), "merge_mode": "sum"}, (STEPS,)),
    ("TimeDistributed", {"layer": Layer("Conv2D", Arguments({"filters": 4, "kernel_size": 3}))}, (VIDEO,)),
    ("TimeDistributed", {"layer": Layer("Dense", Arguments({"units": 4}))}, (STEPS,)),
]  # fmt: skip
ALIASES = {
    "ThresholdedReLU": "no class of Keras 3",
    "Convolution1D": "Conv1D",
    "Convolution2D": "Conv2D",
    "Convolution3D": "Conv3D",
    "Convolution2DTranspose": "Conv2DTranspose",
    "Convolution3DTranspose": "Conv3DTranspose",
    "SeparableConvolution1D": "SeparableConv1D",
    "SeparableConvolution2D": "SeparableConv2D",
    **{f"MaxPool{rank}D": f"MaxPooling{rank}D" for rank in (1, 2, 3)},
    **{f"AvgPool{rank}D": f"AveragePooling{rank}D" for rank in (1, 2, 3)},
    **{f"GlobalMaxPool{rank}D": f"GlobalMaxPooling{rank}D" for rank in (1, 2, 3)},
    **{f"GlobalAvgPool{rank}D": f"GlobalAveragePooling{rank}D" for rank in (1, 2, 3)},
}


def in_keras(name: str, arguments: dict[str, Any]) -> Any:
    import keras

    given = {
        key: in_keras(value.name, dict(value.arguments.given)) if isinstance(value, Layer) else value
        for key, value in arguments.items()
    }
    return getattr(keras.layers, name)(**given)


@pytest.mark.tensorflow
@pytest.mark.slow
def test_shapes_and_weights_are_those_of_keras():
    import keras

    for name, arguments, shapes in CASES:
        layer = in_keras(name, arguments)
        inputs = [keras.Input(shape) for shape in shapes]
        if name == "MultiHeadAttention":
            made = layer(*inputs)
        else:
            made = layer(inputs[0] if len(inputs) == 1 else inputs)
        outputs = made if isinstance(made, (list, tuple)) else [made]
        sizes = layer_sizes(Layer(name, Arguments(arguments)), shapes)
        what = f"{name} {arguments} of {shapes}"
        assert [tuple(one.shape[1:]) for one in outputs] == list(sizes.outputs), what
        trained = sum(weight.shape.num_elements() for weight in layer.trainable_weights)
        assert sizes.trainable == trained, what
        assert sizes.trainable + sizes.fixed == layer.count_params(), what


def test_each_layer_has_a_case():
    assert set(LAYERS) == {name for name, _, _ in CASES} | set(ALIASES)


@pytest.mark.parametrize(
    ("name", "arguments", "shapes"),
    [
        ("Lambda", {}, (ROW,)),
        ("Dense", {}, (ROW,)),
        ("Dense", {"units": -3}, (ROW,)),
        ("Dense", {"units": True}, (ROW,)),
        ("Dense", {"units": 1 << 40}, (ROW,)),
        ("Dense", {"units": 3, "activation": Named("project.own")}, (ROW,)),
        ("Dense", {"units": 3}, ((None,),)),
        ("Conv2D", {"filters": 3, "kernel_size": 30}, (IMAGE,)),
        ("Conv2D", {"filters": 3, "kernel_size": 3}, (ROW,)),
        ("Conv2D", {"filters": 3, "kernel_size": 3, "data_format": "channels_first"}, (IMAGE,)),
        ("Conv2D", {"filters": 3, "kernel_size": 3, "padding": "reflect"}, (IMAGE,)),
        ("Conv2D", {"filters": 3, "kernel_size": [3, 3, 3]}, (IMAGE,)),
        ("Add", {}, (ROW, (3,))),
        ("Add", {}, ()),
        ("Concatenate", {}, (IMAGE, (3, 3, 4))),
        ("Reshape", {"target_shape": [7, -1]}, (IMAGE,)),
        ("Cropping1D", {"cropping": 4}, (STEPS,)),
        ("Bidirectional", {}, (STEPS,)),
        ("LSTM", {"units": 3}, (IMAGE,)),
    ],
)
def test_what_is_not_known_or_does_not_fit_has_no_size(name, arguments, shapes):
    with pytest.raises(UnknownSize):
        layer_sizes(Layer(name, Arguments(arguments)), shapes)


def test_an_open_dimension_stays_open():
    made = layer_sizes(Layer("Conv2D", Arguments({"filters": 8, "kernel_size": 3})), ((None, None, 3),))
    assert made.outputs == ((None, None, 8),)
    assert made.trainable == 3 * 3 * 3 * 8 + 8
    flat = layer_sizes(Layer("Flatten", Arguments({})), ((None, 3),))
    assert flat.outputs == ((None,),)
