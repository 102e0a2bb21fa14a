import keras
from keras import layers


def make_model(window, horizon):
    inputs = keras.Input(shape=(window, 2))
    x = layers.Conv1D(16, 5, padding="causal", activation="relu")(inputs)
    x = layers.GRU(24)(x)
    x = layers.Dense(32, activation="relu")(x)
    outputs = layers.Dense(horizon)(x)
    return keras.Model(inputs, outputs, name="tide_forecaster")


def make_callbacks(settings):
    stop = keras.callbacks.EarlyStopping(
        monitor="val_loss", patience=settings.patience
    )
    keep = keras.callbacks.ModelCheckpoint(
        settings.best_path(),
        monitor="val_loss",
        save_best_only=True,
        save_weights_only=True,
    )
    return [stop, keep]
