import numpy as np
from tensorflow import keras

CLASSES = ["cat", "dog", "fox"]


def classify(model, pictures):
    """Names for a list of pictures."""
    scores = model.predict(np.stack(pictures), verbose=0)
    return [CLASSES[best] for best in scores.argmax(axis=1)]


model = keras.Sequential([
    keras.Input((32, 32, 3)),
    keras.layers.Conv2D(8, 3, activation="relu"),
    keras.layers.GlobalAveragePooling2D(),
    keras.layers.Dense(3, activation="softmax"),
])
pictures = list(np.random.rand(40, 32, 32, 3).astype("float32"))
print(classify(model, pictures)[:5])
