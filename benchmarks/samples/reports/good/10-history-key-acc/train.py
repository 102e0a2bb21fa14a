import csv

import numpy as np
from tensorflow.keras.layers import Conv1D, Dense, GlobalAveragePooling1D, Input
from tensorflow.keras.metrics import BinaryAccuracy
from tensorflow.keras.models import Sequential

np.random.seed(1)
signals = np.random.randn(160, 64, 2).astype("float32")
walking = np.random.randint(0, 2, 160)

clf = Sequential([Input((64, 2)), Conv1D(8, 5, activation="relu"), GlobalAveragePooling1D(), Dense(1, activation="sigmoid")])
clf.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
hist = clf.fit(signals, walking, validation_split=0.2, epochs=3, verbose=0)

train_acc = hist.history["accuracy"]
val_acc = hist.history["val_accuracy"]

with open("curve.csv", "w", newline="") as fh:
    out = csv.writer(fh)
    out.writerow(["epoch", "train", "val"])
    for i, pair in enumerate(zip(train_acc, val_acc)):
        out.writerow([i, *pair])
print("best", max(val_acc))

clf.compile(optimizer="adam", loss="binary_crossentropy", metrics=[BinaryAccuracy(name="acc")])
again = clf.fit(signals, walking, epochs=1, verbose=0)
print(again.history["acc"])
