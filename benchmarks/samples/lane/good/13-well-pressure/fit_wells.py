"""Regress bottom hole pressure on surface readings."""
import numpy as np
import tensorflow as tf
import keras

BATCH = 64
EPOCHS = 20


def wells(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 6)).astype("float32")
    y = 1.5 * x[:, 0] - 0.8 * x[:, 1] + 0.5 * np.tanh(2 * x[:, 2])
    y = y + rng.normal(0, 0.1, n)
    return x, y.astype("float32")


def pressure_net():
    return keras.Sequential(
        [
            keras.Input((6,)),
            keras.layers.Dense(32, activation="tanh"),
            keras.layers.Dense(32, activation="tanh"),
            keras.layers.Dense(1),
        ]
    )


def squared_error(target, estimate):
    return tf.reduce_mean(tf.square(target - tf.squeeze(estimate, axis=-1)))


@tf.function
def train_step(net, optimizer, x, y):
    with tf.GradientTape() as tape:
        estimate = net(x, training=True)
        loss = squared_error(y, estimate)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss


def main():
    keras.utils.set_random_seed(13)
    x, y = wells(1280, seed=0)
    x_test, y_test = wells(320, seed=1)
    batches = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1280).batch(BATCH)

    net = pressure_net()
    optimizer = keras.optimizers.Adam(3e-3)
    for epoch in range(EPOCHS):
        losses = [float(train_step(net, optimizer, bx, by)) for bx, by in batches]
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:2d} loss {np.mean(losses):.4f}")

    guess = net.predict(x_test, verbose=0)[:, 0]
    print("test mse ", round(float(np.mean((guess - y_test) ** 2)), 4))
    print("variance ", round(float(np.var(y_test)), 4))
    print("spread of predictions", round(float(np.std(guess)), 4))


if __name__ == "__main__":
    main()
