import tensorflow as tf

from common import build, get_config, images


def main():
    cfg = get_config()
    tf.keras.utils.set_random_seed(9)
    t = cfg["train"]
    ds = images(cfg, 32, seed=1).batch(t["batch_size"])
    if t["prefetch"]:
        ds = ds.prefetch(tf.data.AUTOTUNE)
    model = build(cfg)
    model.compile(tf.keras.optimizers.RMSprop(t["lr"]), "binary_crossentropy")
    log = model.fit(ds, epochs=t["epochs"], verbose=0)
    print("steps", int(model.optimizer.iterations), "loss", log.history["loss"][-1])
    model.save_weights("wheat.weights.h5")


if __name__ == "__main__":
    main()
