import tensorflow as tf
import yaml


class Mood(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(5000, units)
        self.pool = tf.keras.layers.GlobalAveragePooling1D()
        self.out = tf.keras.layers.Dense(1)

    def call(self, ids):
        return self.out(self.pool(self.embed(ids)))


def main():
    with open("mood.yaml") as stream:
        conf = yaml.safe_load(stream)
    model = Mood(conf["units"])
    model.compile(optimizer=tf.keras.optimizers.Adam(conf["rate"]), loss=conf["loss"])
    ids = tf.random.uniform([128, 20], maxval=5000, dtype=tf.int32)
    model.fit(ids, tf.cast(ids[:, 0] > 2500, tf.float32), epochs=2)


main()
