"""Read the digits of gas meters with CTC."""
import numpy as np
import tensorflow as tf

from config import Config
from crnn import crnn

cfg = Config.from_yaml("ocr.yaml")


def meters(ds):
    rng = np.random.default_rng(0)
    values = rng.integers(0, len(ds.alphabet), (ds.samples, ds.digits))
    images = rng.random((ds.samples, ds.height, ds.width, 1))
    for image, value in zip(images, values):
        columns = np.repeat(value, ds.width // ds.digits)
        image[:, : len(columns), 0] += columns / 5.0
    return images.astype("float32"), values.astype("int32")


def decode(logits):
    logits = tf.transpose(logits, (1, 0, 2))
    steps = tf.fill([tf.shape(logits)[1]], tf.shape(logits)[0])
    if cfg.ctc.decoder == "greedy":
        decoded, _ = tf.nn.ctc_greedy_decoder(logits, steps, blank_index=cfg.ctc.blank_index)
    else:
        decoded, _ = tf.nn.ctc_beam_search_decoder(logits, steps, beam_width=25)
    return tf.sparse.to_dense(decoded[0], default_value=-1)


def main():
    tf.keras.utils.set_random_seed(6)
    images, values = meters(cfg.dataset)
    batches = tf.data.Dataset.from_tensor_slices((images, values)).batch(cfg.solver.batch_size)
    model = crnn(cfg.dataset.height, cfg.dataset.width, cfg.network)
    rate = tf.keras.optimizers.schedules.PiecewiseConstantDecay(cfg.solver.boundaries, cfg.solver.values)
    optimizer = tf.keras.optimizers.Adam(rate)

    for _ in range(cfg.solver.epochs):
        for x, y in batches:
            with tf.GradientTape() as tape:
                logits = model(x, training=True)
                n = tf.shape(x)[0]
                loss = tf.reduce_mean(tf.nn.ctc_loss(
                    labels=y,
                    logits=logits,
                    label_length=tf.fill([n], cfg.dataset.digits),
                    logit_length=tf.fill([n], tf.shape(logits)[1]),
                    logits_time_major=False,
                    blank_index=cfg.ctc.blank_index,
                ))
            grads = tape.gradient(loss, model.trainable_variables)
            if cfg.solver.grad_clip is not None:
                grads, _ = tf.clip_by_global_norm(grads, cfg.solver.grad_clip)
            optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print("loss %.5f" % float(loss), "read", decode(model(images[:2])).shape[0])


if __name__ == "__main__":
    main()
