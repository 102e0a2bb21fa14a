import numpy as np
from tensorflow import keras
from tensorflow.keras.utils import to_categorical

NUM_CLASSES = 6
x_train = np.random.rand(300, 28, 28, 1).astype("float32")
y_train = to_categorical(np.random.randint(0, NUM_CLASSES, 300), NUM_CLASSES)

model = keras.Sequential([
    keras.layers.Flatten(),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(NUM_CLASSES, activation="softmax"),
])
model.compile(
    optimizer="rmsprop",
    loss=keras.losses.CategoricalCrossentropy(),
    metrics=["accuracy"],
)
model.fit(x_train, y_train, batch_size=50, epochs=2)
