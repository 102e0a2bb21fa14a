import os

from tensorflow import keras

import config as C
import dataset
import net


def main():
    keras.utils.set_random_seed(C.SEED)
    os.makedirs(C.OUT_DIR, exist_ok=True)
    model = net.grain_net()
    model.compile(
        optimizer=keras.optimizers.Adam(C.LR),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    callbacks = [
        keras.callbacks.EarlyStopping("val_loss", patience=C.PATIENCE, min_delta=C.MIN_DELTA),
        keras.callbacks.ModelCheckpoint(C.WEIGHTS, save_weights_only=True),
    ]
    history = model.fit(dataset.training_set(), validation_data=dataset.validation_set(),
                        epochs=C.EPOCHS, callbacks=callbacks, verbose=2)
    print("best", min(history.history["val_loss"]))


if __name__ == "__main__":
    main()
