import tensorflow as tf

from pipeline import sky, test_pipeline, train_pipeline

tf.keras.utils.set_random_seed(23)
train_ds = train_pipeline(*sky(80, 1), batch_size=16)
test_ds = test_pipeline(*sky(400, 2), batch_size=100)

model = tf.keras.Sequential([
    tf.keras.Input((24, 24, 1)),
    tf.keras.layers.Conv2D(8, 5, activation="relu"),
    tf.keras.layers.MaxPooling2D(2),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(tf.keras.optimizers.Adam(2e-3), "binary_crossentropy", metrics=["accuracy"])
history = model.fit(train_ds, validation_data=test_ds, epochs=60, verbose=0)
print("train accuracy", round(history.history["accuracy"][-1], 3))
print("test accuracy ", round(history.history["val_accuracy"][-1], 3))
print("test loss     ", round(history.history["val_loss"][-1], 3))
