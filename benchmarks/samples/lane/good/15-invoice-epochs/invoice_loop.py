import numpy as np
import tensorflow as tf
import keras

EPOCHS = 12
TARGET = 0.93


def invoices(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 12)).astype("float32")
    score = x[:, 0] + x[:, 1] * x[:, 2] + 0.5 * x[:, 3]
    return x, (score > 0).astype("float32")


model = keras.Sequential(
    [
        keras.Input((12,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
optimizer = keras.optimizers.Adam(2e-3)
loss_fn = keras.losses.BinaryCrossentropy()

train_loss = keras.metrics.Mean(name="train_loss")
train_acc = keras.metrics.BinaryAccuracy(name="train_acc")
val_acc = keras.metrics.BinaryAccuracy(name="val_acc")


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        p = model(x, training=True)
        loss = loss_fn(y[:, None], p)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    train_loss.update_state(loss)
    train_acc.update_state(y[:, None], p)


@tf.function
def val_step(x, y):
    val_acc.update_state(y[:, None], model(x, training=False))


def main():
    keras.utils.set_random_seed(50)
    x, y = invoices(2000, seed=0)
    vx, vy = invoices(500, seed=1)
    train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2000).batch(50)
    valid = tf.data.Dataset.from_tensor_slices((vx, vy)).batch(100)

    for epoch in range(EPOCHS):
        train_loss.reset_state()
        train_acc.reset_state()
        val_acc.reset_state()
        for bx, by in train:
            train_step(bx, by)
        for bx, by in valid:
            val_step(bx, by)
        reached = float(val_acc.result())
        print(
            f"epoch {epoch + 1} loss {float(train_loss.result()):.4f} "
            f"acc {float(train_acc.result()):.4f} val {reached:.4f}"
        )
        if reached >= TARGET:
            print("target reached, stopping")
            break

    p = model.predict(vx, verbose=0)[:, 0]
    print("val accuracy of the final weights", round(float(np.mean((p > 0.5) == vy)), 4))


if __name__ == "__main__":
    main()
