import argparse

import tensorflow as tf
from cards import one_card


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memory", type=int, default=4096)
    args = parser.parse_args()
    one_card(args.memory)
    net = tf.keras.Sequential([tf.keras.layers.Dense(32)])
    net.compile("adam", "mse")
    tones = tf.random.normal([100, 32])
    net.fit(tones, tones)


if __name__ == "__main__":
    main()
