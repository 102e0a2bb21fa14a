import numpy as np
import tensorflow as tf
from omegaconf import OmegaConf

base = OmegaConf.load("lamp.yaml")
conf = OmegaConf.merge(base, OmegaConf.from_cli())


def net(conf):
    stack = [tf.keras.layers.Dense(n, activation="relu") for n in conf.lens.layers]
    return tf.keras.Sequential([tf.keras.Input((conf.lamp.beams,)), *stack, tf.keras.layers.Dense(1)])


def main():
    model = net(conf)
    optimizer = tf.keras.optimizers.get(conf.train.optimizer)
    optimizer.learning_rate = conf.train.lr
    optimizer.clipnorm = conf.train.clipnorm
    model.compile(optimizer, "mse")
    if conf.resume is not None:
        model.load_weights(conf.resume)
    x = np.random.rand(conf.train.steps * 4, conf.lamp.beams)
    data = tf.data.Dataset.from_tensor_slices((x, x.sum(1))).batch(4)
    model.fit(data, steps_per_epoch=conf.train.steps, verbose=0)
    print("light:", conf.lamp.colour)


if __name__ == "__main__":
    main()
