import numpy as np
from tensorflow import keras

CLASSES = ["cat", "dog", "fox"]


def classify(model, pictures):
    """Names for a list of pictures."""
    return [CLASSES[int(model.predict(picture[np.newaxis], verbose=0).argmax())] for picture in pictures]


model = keras.Sequential([
    keras.Input((32, 32, 3)),
    keras.layers.Conv2D(8, 3, activation="relu"),
    keras.layers.GlobalAveragePooling2D(),
    keras.layers.Dense(3, activation="softmax"),
])
pictures = list(np.random.rand(40, 32, 32, 3).astype("float32"))
print(classify(model, pictures)[:5])
