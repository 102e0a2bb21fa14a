import sys

import tensorflow as tf

import cells
from settings import read_experiment


def network(net, size):
    model = tf.keras.Sequential([tf.keras.Input((size, size, 1))])
    for width in net["widths"]:
        model.add(tf.keras.layers.Conv2D(width, 3, activation="relu"))
        model.add(tf.keras.layers.MaxPooling2D())
    model.add(tf.keras.layers.Flatten())
    model.add(tf.keras.layers.Dropout(net["dropout"]))
    model.add(tf.keras.layers.Dense(1))
    return model


def make_optimizer(opt):
    rate = tf.keras.optimizers.schedules.PiecewiseConstantDecay(opt["boundaries"], opt["values"])
    return tf.keras.optimizers.SGD(rate, momentum=opt["momentum"])


def main(name):
    exp = read_experiment(name)
    tf.keras.utils.set_random_seed(exp["seed"])
    train, test = cells.pipelines(exp["data"], exp["augmentation"], exp["seed"])
    model = network(exp["network"], exp["data"]["size"])
    optimizer = make_optimizer(exp["optimizer"])
    loss_fn = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    mean_loss = tf.keras.metrics.Mean()
    accuracy = tf.keras.metrics.BinaryAccuracy(threshold=0.0)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        mean_loss.update_state(loss)

    @tf.function
    def score(x, y):
        accuracy.update_state(y, model(x, training=False))

    for epoch in range(exp["epochs"]):
        mean_loss.reset_state()
        for x, y in train:
            step(x, y)
        for x, y in test:
            score(x, y)
        print(f"{name} epoch {epoch}: loss {float(mean_loss.result()):.4f} "
              f"accuracy {float(accuracy.result()):.3f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "base")
