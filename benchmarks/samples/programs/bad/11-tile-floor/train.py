import tempfile

import keras
import yaml

import photos

cfg = yaml.safe_load(open("settings.yaml"))
keras.utils.set_random_seed(cfg["seed"]["model"])
root = tempfile.mkdtemp()
photos.draw(root)

train = photos.open_split(root, "train", cfg)
holdout = photos.open_split(root, "holdout", cfg)
print(len(train.file_paths), "train files,", len(holdout.file_paths), "held out")

net = keras.Sequential([
    keras.layers.Rescaling(1 / 127.5, offset=-1),
    keras.layers.Conv2D(8, 5, strides=3, activation="relu"),
    keras.layers.GlobalMaxPooling2D(),
    keras.layers.Dense(len(train.class_names)),
])
net.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
net.fit(train, validation_data=holdout, epochs=cfg["epochs"], verbose=2)
