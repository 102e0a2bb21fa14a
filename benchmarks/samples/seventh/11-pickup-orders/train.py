import argparse
import json

import tensorflow as tf

from pickup import net, orders


def devices(n):
    gpus = tf.config.list_physical_devices("GPU")
    if len(gpus) >= n:
        return [f"GPU:{i}" for i in range(n)]
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * n)
    return [f"CPU:{i}" for i in range(n)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="conf/orders.json")
    parser.add_argument("--save-to", default=None)
    args = parser.parse_args()
    with open(args.config) as fh:
        conf = json.load(fh)

    strategy = tf.distribute.MirroredStrategy(devices(conf["replicas"]))
    tf.keras.mixed_precision.set_global_policy(conf["mixed_precision"])
    tf.keras.utils.set_random_seed(0)

    training = conf["training"]
    with strategy.scope():
        model = net.build(conf)
        optimizer = tf.keras.optimizers.Adam(training["learning_rate"])
        loss_fn = tf.keras.losses.MeanSquaredError(reduction="none")
        optimizer.build(model.trainable_variables)

    def replica_step(inputs):
        features, target = inputs
        with tf.GradientTape() as tape:
            losses = loss_fn(target, model(features, training=True))
            loss = tf.reduce_mean(losses)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    @tf.function
    def train_step(inputs):
        per_replica = strategy.run(replica_step, args=(inputs,))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)

    data = strategy.distribute_datasets_from_function(orders.dataset_fn(conf))
    for epoch in range(training["epochs"]):
        batches = iter(data)
        total = 0.0
        for _ in range(training["steps_per_epoch"]):
            total += float(train_step(next(batches)))
        print(f"epoch {epoch} loss {total / training['steps_per_epoch']:.3f}")
    if args.save_to:
        model.save(args.save_to)


if __name__ == "__main__":
    main()
