from tensorflow.keras.callbacks import EarlyStopping, ReduceLROnPlateau


def standard(hp):
    return [
        EarlyStopping(monitor="val_loss", patience=hp["stop_after"], restore_best_weights=True),
        ReduceLROnPlateau(monitor="val_loss", patience=hp["lower_after"], factor=hp["factor"], verbose=1),
    ]
