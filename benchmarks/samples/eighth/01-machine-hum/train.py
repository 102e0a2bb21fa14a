"""Dense autoencoder for the sound of machines."""
import csv
import glob
import os

import numpy as np
import tensorflow as tf

import common
import keras_model

param = common.yaml_load()


def main():
    tf.keras.utils.set_random_seed(0)
    os.makedirs(param["model_directory"], exist_ok=True)

    feature = param["feature"]
    common.record_dummy_machine(param["dev_directory"], feature["sample_rate"])
    files = sorted(glob.glob(os.path.join(param["dev_directory"], "*.npy")))
    train_data = np.concatenate([common.file_to_vectors(f, **feature) for f in files])

    model = keras_model.get_model(feature["n_mels"] * feature["n_frames"], **param["model"])
    model.compile(**param["fit"]["compile"])
    history = model.fit(
        train_data,
        train_data,
        epochs=param["fit"]["epochs"],
        batch_size=param["fit"]["batch_size"],
        shuffle=param["fit"]["shuffle"],
        validation_split=param["fit"]["validation_split"],
        verbose=param["fit"]["verbose"],
    )

    with open(os.path.join(param["model_directory"], param["result_file"]), "w") as f:
        writer = csv.writer(f)
        writer.writerow(["epoch", "loss", "val_loss"])
        for i, row in enumerate(zip(history.history["loss"], history.history["val_loss"])):
            writer.writerow([i + 1, *row])
    model.save(os.path.join(param["model_directory"], "model.keras"))
    print("loss %.6f val_loss %.6f" % (history.history["loss"][-1], history.history["val_loss"][-1]))


if __name__ == "__main__":
    main()
