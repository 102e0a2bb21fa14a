import queue
import threading

import tensorflow as tf
import yaml
from tensorflow import keras


class PigeonNet(keras.Model):
    def __init__(self, cfg, lofts, **kw):
        super().__init__(**kw)
        self.cfg = cfg
        self.embed = keras.layers.Embedding(lofts, cfg["embed"])
        self.wings = [keras.layers.Dense(w, "relu") for w in cfg["wings"]]
        self.drop = keras.layers.Dropout(cfg.get("rate", 0.0))
        self.land = keras.layers.Dense(lofts)

    def call(self, x, training=False):
        h = tf.reshape(self.embed(x), (-1, 2 * self.cfg["embed"]))
        for wing in self.wings:
            h = self.drop(wing(h), training=training)
        return self.land(h)

    def get_config(self):
        return {**super().get_config(), "cfg": self.cfg}


def letters(cfg):
    x = tf.random.uniform((cfg["letters"], 2), 0, cfg["lofts"], tf.int32)
    ds = tf.data.Dataset.from_tensor_slices((x, tf.reduce_sum(x, axis=1) % cfg["lofts"]))
    pipe = cfg["pipeline"]
    return ds.shuffle(pipe["shuffle"]).batch(pipe["batch"]).prefetch(pipe.get("prefetch", tf.data.AUTOTUNE))


def worker(jobs, results):
    while (job := jobs.get()) is not None:
        name, cfg = job
        net = PigeonNet(cfg["model"], cfg["lofts"], name=name)
        spec = dict(cfg["train"]["optimizer"])
        opt = keras.optimizers.get({"class_name": spec.pop("name"), "config": spec})
        net.compile(opt, keras.losses.SparseCategoricalCrossentropy(from_logits=True), run_eagerly=cfg["debug"])
        log = net.fit(letters(cfg), epochs=cfg["train"]["epochs"], **cfg["train"]["fit_args"])
        results.put((name, log.history["loss"][-1]))


def main():
    with open("post.yaml") as f:
        cfg = yaml.safe_load(f)
    keras.utils.set_random_seed(17)
    jobs, results = queue.Queue(), queue.Queue()
    t = threading.Thread(target=worker, args=(jobs, results))
    t.start()
    for name in ("north", "south"):
        jobs.put((name, cfg))
    jobs.put(None)
    t.join()
    while not results.empty():
        print("%s %.4f" % results.get())


if __name__ == "__main__":
    main()
