import numpy as np
import tensorflow as tf

from measure import FRUITS, measure

# %% data
tf.keras.utils.set_random_seed(20)
x, y = measure()
print("rows", len(y), "classes", len(FRUITS))

# %% model
inputs = tf.keras.Input((4,))
h = tf.keras.layers.Dense(32, activation="relu")(inputs)
h = tf.keras.layers.Dense(32, activation="relu")(h)
outputs = tf.keras.layers.Dense(len(FRUITS), activation="softmax")(h)
model = tf.keras.Model(inputs, outputs)
model.compile(
    optimizer=tf.keras.optimizers.Adam(5e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)

# %% training
history = model.fit(
    x,
    y,
    validation_split=0.2,
    epochs=12,
    batch_size=32,
    verbose=0,
)
print("train accuracy", round(history.history["accuracy"][-1], 3))
print("validation accuracy", round(history.history["val_accuracy"][-1], 3))

# %% look at each fruit
fresh_x, fresh_y = measure(per_class=40, seed=21)
pred = np.argmax(model.predict(fresh_x, verbose=0), axis=1)
for k, name in enumerate(FRUITS):
    print(f"{name:7s} {np.mean(pred[fresh_y == k] == k):.2f}")
