import numpy as np
from tensorflow import keras


class Trainer:
    section = "trainer"

    def __init__(self, cfg):
        self.cfg = cfg
        self.opts = cfg[self.section]
        keras.utils.set_random_seed(cfg["seed"])
        self.model = self.build()

    def build(self):
        raise NotImplementedError

    def frames(self):
        sky = self.cfg["sky"]
        rng = np.random.default_rng(self.cfg["seed"])
        x = rng.poisson(sky["photons"], (sky["frames"], sky["pixels"])).astype("float32")
        return x, x.argmax(axis=1).astype("float32") / sky["pixels"]

    def optimizer(self):
        return keras.optimizers.Adam(self.opts["rate"])

    def save(self):
        if self.opts.get("keep", True):
            self.model.save(self.opts["path"])

    def run(self):
        self.model.compile(self.optimizer(), self.opts.get("loss", "mae"))
        x, y = self.frames()
        for night in range(self.opts["nights"]):
            loss = self.model.fit(x, y, verbose=0).history["loss"][0]
            if night % self.opts["log_every"] == 0:
                print(f"night {night}: {loss:.4f}")
        self.save()
