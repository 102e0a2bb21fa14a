"""Guess the age of a tree by its cones, with a loop of its own."""
import argparse

import tensorflow as tf
import yaml

from cones import rates, watch


def cones(forest, batch):
    x = tf.random.stateless_uniform([forest["trees"], forest["needles"]], seed=(1, 2))
    ds = tf.data.Dataset.from_tensor_slices((x, tf.reduce_sum(x, 1, keepdims=True)))
    return ds.shuffle(forest["shuffle_buffer"]).batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--conf", default="cones.yaml")
    parser.add_argument("--rounds", type=int)
    with open((args := parser.parse_args()).conf) as f:
        conf = yaml.safe_load(f)
    loop, strategy = conf["loop"], conf["strategy"]
    rounds = args.rounds or loop["rounds"]
    tf.keras.utils.set_random_seed(3)

    schedule = dict(conf["schedule"])
    rule = tf.keras.optimizers.SGD(rates.RATES[schedule.pop("type")](**schedule))
    net = tf.keras.Sequential([
        tf.keras.Input((conf["forest"]["needles"],)),
        tf.keras.layers.Dense(4, activation="relu", kernel_regularizer=tf.keras.regularizers.L2(loop["regularise"])),
        tf.keras.layers.Dense(1),
    ])
    rule.build(net.trainable_variables)
    data = cones(conf["forest"], strategy["replicas"] * strategy["per_replica"])
    watchers = watch.make(conf["callbacks"])

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            cost = tf.reduce_mean((net(x, training=True) - y) ** 2) + tf.add_n(net.losses)
        rule.apply_gradients(zip(tape.gradient(cost, net.trainable_variables), net.trainable_variables))
        return cost

    for number in range(rounds):
        mean = tf.keras.metrics.Mean()
        for x, y in data:
            mean.update_state(step(x, y))
        logs = {"loss": float(mean.result())}
        if any([w.round_end(number, logs) for w in watchers]):
            break
    print(conf["experiment"], logs)


if __name__ == "__main__":
    main()
