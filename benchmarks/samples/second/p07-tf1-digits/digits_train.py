import numpy as np
import tensorflow as tf

from flags import FLAGS

L = tf.keras.layers


def inference():
    conv = dict(padding=FLAGS.padding, data_format=FLAGS.data_format,
                kernel_initializer=FLAGS.initializer, activation="relu")
    return tf.keras.Sequential([
        tf.keras.Input((14, 14, 1)),
        L.Conv2D(8, 5, **conv),
        L.MaxPooling2D(),
        L.Flatten(),
        L.Dropout(1 - FLAGS.keep_prob),
        L.Dense(10, dtype="float32"),
    ])


def optimizer():
    rate = tf.keras.optimizers.schedules.ExponentialDecay(
        FLAGS.learning_rate, FLAGS.decay_steps, FLAGS.decay_rate, staircase=True)
    if FLAGS.optimizer == "momentum":
        return tf.keras.optimizers.SGD(rate, momentum=FLAGS.momentum)
    elif FLAGS.optimizer == "adam":
        return tf.keras.optimizers.Adam(rate)
    raise ValueError(FLAGS.optimizer)


def main():
    tf.keras.utils.set_random_seed(7)
    if FLAGS.use_fp16:
        tf.keras.mixed_precision.set_global_policy("mixed_float16")
    rng = np.random.default_rng(7)
    images = rng.random((64, 14, 14, 1), dtype="float32")
    labels = rng.integers(0, 10, 64)
    data = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(64).repeat().batch(FLAGS.batch_size).prefetch(1)
    model = inference()
    model.compile(optimizer(), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    log = model.fit(data, steps_per_epoch=FLAGS.max_steps, verbose=0)
    print("loss", log.history["loss"][-1], "computed in", model.layers[0].compute_dtype)
    model.save(FLAGS.checkpoint)


if __name__ == "__main__":
    main()
