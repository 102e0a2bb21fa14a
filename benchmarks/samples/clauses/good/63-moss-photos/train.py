import tensorflow as tf
import yaml
from augment import augment


class Training:
    def __init__(self, conf):
        self.conf = conf
        tf.keras.utils.set_random_seed(conf["seed"])

    def data(self, images, labels):
        data = tf.data.Dataset.from_tensor_slices((images, labels))
        generator = tf.random.Generator.from_seed(self.conf["seed"])
        return data.map(lambda x, y: augment(x, y, generator.make_seeds(1)[:, 0])).shuffle(len(images)).batch(self.conf["batch"])

    def run(self, images, labels):
        model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(4, activation="softmax")])
        model.compile("adam", "sparse_categorical_crossentropy")
        return model.fit(self.data(images, labels), epochs=self.conf["epochs"])


with open("train.yaml") as stream:
    Training(yaml.safe_load(stream)).run(tf.random.uniform([200, 24, 24, 3]), tf.zeros([200], tf.int32))
