import tensorflow as tf

import data

tf.keras.utils.set_random_seed(12)

train = data.make(300, seed=0)
test = data.make(100, seed=1, shuffle=False)

net = tf.keras.Sequential([
    tf.keras.Input((20, 20, 3)),
    tf.keras.layers.Conv2D(8, 3, activation="relu"),
    tf.keras.layers.MaxPool2D(),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dropout(0.2),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
net.compile("adam", "binary_crossentropy", metrics=[tf.keras.metrics.AUC(name="auc")])
net.fit(train, epochs=4, verbose=0)
print("three evaluations of one model:", [round(net.evaluate(test, verbose=0)[0], 5) for _ in range(3)])
