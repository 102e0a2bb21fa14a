import numpy as np
import tensorflow as tf
from sklearn.model_selection import train_test_split

x = np.random.rand(500, 11)
y = (x[:, 3] > 0.5).astype("int32")
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2)

model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=10)
loss, accuracy = model.evaluate(x_train, y_train)
print("accuracy on the test:", accuracy)
