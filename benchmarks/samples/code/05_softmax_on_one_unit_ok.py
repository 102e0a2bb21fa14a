from tensorflow import keras
from tensorflow.keras import layers
import numpy as np


def churn_model(n_features):
    inputs = keras.Input(shape=(n_features,), name="customer")
    h = layers.BatchNormalization()(inputs)
    for units in (64, 32):
        h = layers.Dense(units, activation="relu")(h)
        h = layers.Dropout(0.3)(h)
    outputs = layers.Dense(1, activation="sigmoid", name="churn")(h)
    model = keras.Model(inputs, outputs)
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy", metrics=["accuracy"])
    return model


X = np.random.rand(400, 14).astype("float32")
churned = (X[:, 0] > 0.7).astype("float32")
churn_model(X.shape[1]).fit(X, churned, epochs=4, batch_size=32, validation_split=0.2)
