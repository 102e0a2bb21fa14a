import numpy as np
import tensorflow as tf

from data import NAMES, split

tf.keras.utils.set_random_seed(14)

train_ds = split(600, seed=1)
test_ds = split(300, seed=2, shuffle=False)

model = tf.keras.Sequential([
    tf.keras.Input((12, 12, 1)),
    tf.keras.layers.Conv2D(8, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(3),
])
model.compile(
    optimizer="adam",
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(train_ds, epochs=4, verbose=0)
_, accuracy = model.evaluate(test_ds, verbose=0)
print(f"evaluate: accuracy {accuracy:.3f}")

# report for the paper
y_true = np.concatenate([y.numpy() for _, y in test_ds])
y_pred = model.predict(test_ds, verbose=0).argmax(axis=1)
matrix = tf.math.confusion_matrix(y_true, y_pred).numpy()

print("confusion matrix")
for name, row in zip(NAMES, matrix):
    print(f"  {name:8s}", row)
recall = matrix.diagonal() / matrix.sum(axis=1)
print("recall", dict(zip(NAMES, recall.round(3).tolist())))
