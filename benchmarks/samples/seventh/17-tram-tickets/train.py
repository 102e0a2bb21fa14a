import numpy as np
import tensorflow as tf
import yaml

params = yaml.safe_load(open("params.yaml"))["train"]
data = np.load("work/tickets.npz")
X_train, y_train = data["X_train"], data["y_train"]

tf.keras.utils.set_random_seed(0)
norm = tf.keras.layers.Normalization()
norm.adapt(X_train)

model = tf.keras.Sequential([tf.keras.Input((X_train.shape[1],)), norm])
for units in params["hidden"]:
    model.add(tf.keras.layers.Dense(units, activation="relu"))
model.add(tf.keras.layers.Dense(4, activation="softmax"))

model.compile(optimizer=tf.keras.optimizers.Adam(params["learning_rate"]),
              loss="categorical_crossentropy", metrics=params["metrics"])
model.fit(X_train, y_train, validation_split=0.15, epochs=params["epochs"],
          batch_size=params["batch_size"], verbose=2)
model.save(params["model_path"])
