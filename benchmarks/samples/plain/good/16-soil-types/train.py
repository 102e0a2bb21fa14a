import tensorflow as tf

from encode import encode, fit_classes
from tables import SOILS, survey

tf.keras.utils.set_random_seed(12)

x_train, soil_train = survey(900, SOILS, seed=1)
x_test, soil_test = survey(300, ["loam", "sand", "silt"], seed=2)

classes = fit_classes(soil_train)
y_train = encode(soil_train, classes)
y_test = encode(soil_test, classes)

normalizer = tf.keras.layers.Normalization()
normalizer.adapt(x_train)

model = tf.keras.Sequential([
    tf.keras.Input((3,)),
    normalizer,
    tf.keras.layers.Dense(24, activation="relu"),
    tf.keras.layers.Dense(len(classes), activation="softmax"),
])
model.compile(
    optimizer=tf.keras.optimizers.Adam(1e-2),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
history = model.fit(x_train, y_train, batch_size=32, epochs=8, verbose=0)
print("train accuracy", round(history.history["accuracy"][-1], 3))

loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
print("test accuracy", round(accuracy, 3), "loss", round(loss, 3))

codes = model.predict(x_test[:5], verbose=0).argmax(axis=1)
print("first predictions", [str(classes[c]) for c in codes])
print("field book       ", [str(s) for s in soil_test[:5]])
