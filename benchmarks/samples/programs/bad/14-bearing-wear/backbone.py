from tensorflow.keras import Input, Model, layers, regularizers


def vibration_net(inputs=30, widths=(64, 64)):
    x = inp = Input((inputs,))
    for i, w in enumerate(widths):
        x = layers.Dense(w, activation="relu", name=f"fc{i}")(x)
    return Model(inp, x, name="vibration")


def add_weight_decay(model, amount):
    """The published backbone comes without; our sets are small."""
    for layer in model.layers:
        if hasattr(layer, "kernel_regularizer"):
            layer.kernel_regularizer = regularizers.l2(amount)
    return model
