import tensorflow as tf

from common import build, get_config, images


def main():
    cfg = get_config()
    e = cfg["eval"]
    model = build(cfg)
    model.load_weights("wheat.weights.h5")
    precision = tf.keras.metrics.Precision(thresholds=e["score_threshold"])
    for x, y in images(cfg, 32, seed=2).batch(e["batch_size"]):
        precision.update_state(y, model(x))
    print("precision", float(precision.result()))


if __name__ == "__main__":
    main()
