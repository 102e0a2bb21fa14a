import numpy as np
import tensorflow as tf


def clean_images(cfg, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:cfg.SIDE, 0:cfg.SIDE] / cfg.SIDE
    freq = rng.uniform(1, 6, (cfg.IMAGES, 1, 1))
    img = 0.5 + 0.4 * np.sin(freq * xx * 6) * np.cos(freq * yy * 4)
    return img[..., None].astype("float32")


class FlareData:
    def __init__(self, cfg):
        self.cfg = cfg
        yy, xx = np.mgrid[0:cfg.SIDE, 0:cfg.SIDE]
        self.grid = tf.constant(np.stack([yy, xx]), tf.float32)

    def spoil(self, image):
        centre = tf.random.uniform([2, 1, 1], 0, self.cfg.SIDE)
        distance = tf.reduce_sum((self.grid - centre) ** 2, axis=0)
        flare = self.cfg.FLARE * tf.exp(-distance / self.cfg.SIDE)
        noisy = image + flare[..., None]
        noisy += tf.random.normal(tf.shape(image), stddev=self.cfg.NOISE_STD)
        noisy = tf.clip_by_value(noisy, 0.0, 1.0)
        return noisy, noisy

    def train(self):
        ds = tf.data.Dataset.from_tensor_slices(clean_images(self.cfg, 1))
        ds = ds.cache().shuffle(self.cfg.IMAGES).map(self.spoil, num_parallel_calls=tf.data.AUTOTUNE)
        return ds.batch(self.cfg.BATCH_SIZE).prefetch(tf.data.AUTOTUNE)

    def test(self):
        ds = tf.data.Dataset.from_tensor_slices(clean_images(self.cfg, 2)).map(self.spoil)
        return ds.batch(self.cfg.BATCH_SIZE)
