import numpy as np
import yaml
from tensorflow import keras

from network import classifier

with open("params.yaml") as fh:
    P = yaml.safe_load(fh)

keras.utils.set_random_seed(11)


def leaves(rows, features, classes):
    centre = np.random.randn(classes, features)
    label = np.random.randint(0, classes, rows)
    return (centre[label] + 0.7 * np.random.randn(rows, features)).astype("float32"), label


x, y = leaves(**{k: P["data"][k] for k in ("rows", "features", "classes")})
model = classifier(P["model"], P["data"]["features"], P["data"]["classes"])
opt = keras.optimizers.get(P["training"]["optimizer"])
opt.learning_rate = P["training"]["lr"]
model.compile(optimizer=opt, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x[:600], y[:600], epochs=P["training"]["epochs"], batch_size=P["training"]["batch_size"], verbose=0)
print("held out", model.evaluate(x[600:], y[600:], verbose=0, return_dict=True))
