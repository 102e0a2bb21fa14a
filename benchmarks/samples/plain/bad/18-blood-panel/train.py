import tensorflow as tf

from panel import load_panel, split_dataset

SEED = 5
tf.keras.utils.set_random_seed(SEED)


def build(inputs):
    model = tf.keras.Sequential([
        tf.keras.Input((inputs,)),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile(
        optimizer=tf.keras.optimizers.Adam(2e-3),
        loss="binary_crossentropy",
        metrics=[tf.keras.metrics.BinaryAccuracy(name="acc"), tf.keras.metrics.AUC(name="auc")],
    )
    return model


x, y = load_panel()
train_ds, val_ds = split_dataset(x, y, val_size=75, batch_size=25, seed=SEED)
model = build(x.shape[1])
history = model.fit(train_ds, validation_data=val_ds, epochs=30, verbose=0)
x_new, y_new = load_panel(1000, seed=99)
scores = model.evaluate(x_new, y_new, verbose=0, return_dict=True)
print(f"validation accuracy {history.history['val_acc'][-1]:.3f} "
      f"auc {history.history['val_auc'][-1]:.3f}")
print(f"new patients accuracy {scores['acc']:.3f} auc {scores['auc']:.3f}")
