import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

import settings
from settings import count, minutes

cfg = settings.read()


def frames(radar, n=60):
    rng = np.random.default_rng(0)
    field = rng.random((n, radar.size, radar.size, 1)) ** 6
    back = minutes(radar.history) // minutes(radar.step)
    lead = minutes(radar.lead) // minutes(radar.step)
    x = np.stack([field[i : i + back] for i in range(n - back - lead)])
    later = field[back + lead :][: len(x)]
    y = (later.mean(axis=(1, 2, 3)) > cfg.net.dry_threshold_mm).astype("int32")
    return x.astype("float32"), y


def batches(x, y, split):
    weight = {int(k): v for k, v in cfg.fit.class_weight.items()}
    w = np.vectorize(weight.get)(y).astype("float32")
    ds = tf.data.Dataset.from_tensor_slices((x, y, w))
    if split == "train":
        ds = ds.shuffle(cfg.batches.shuffle_buffer, seed=0)
    return ds.batch(cfg.batches[f"{split}-size"]).prefetch(cfg.batches.prefetch)


def build(net, shape):
    special = net[net["kind"]]
    if net.kind == "persistence":
        body = [layers.Lambda(lambda t: t[:, -special["frames"] :])]
    else:
        kwargs = {k.replace("-", "_"): v for k, v in special.items()}
        body = [layers.ConvLSTM2D(f, return_sequences=True, **kwargs) for f in net.filters]
    return tf.keras.Sequential([
        tf.keras.Input(shape), *body,
        layers.GlobalAveragePooling3D(),
        layers.Dense(1, activation="sigmoid"),
    ])


def main():
    tf.keras.utils.set_random_seed(0)
    x, y = frames(cfg.radar)
    cut = round(len(x) * (1 - cfg.radar.holdout_percent / 100))
    model = build(cfg.net, x.shape[1:])
    model.compile(tf.keras.optimizers.Adam(cfg.fit.learning_rate), "binary_crossentropy")
    stop = tf.keras.callbacks.EarlyStopping(patience=count(cfg.fit.stop_after))
    history = model.fit(
        batches(x[:cut], y[:cut], "train"),
        validation_data=batches(x[cut:], y[cut:], "valid"),
        epochs=cfg.fit.epochs, callbacks=[stop], verbose=0)
    print(cfg.title, "loss %.5f" % history.history["loss"][-1])


if __name__ == "__main__":
    main()
