import numpy as np
from tensorflow import keras
from tensorflow.keras.callbacks import EarlyStopping, ModelCheckpoint

X = np.random.rand(300, 20).astype("float32")
Y = (X[:, 0] + X[:, 1] > 1).astype("int32")

net = keras.models.Sequential([
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(2, activation="softmax"),
])
net.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])

callbacks = [
    EarlyStopping(monitor="val_loss", patience=5, restore_best_weights=True),
    ModelCheckpoint("best.keras", monitor="val_accuracy", mode="min", save_best_only=True),
]
net.fit(X, Y, validation_split=0.2, epochs=8, batch_size=30, callbacks=callbacks, verbose=2)
