import numpy as np
import tensorflow as tf
from absl import flags

FLAGS = flags.FLAGS
flags.DEFINE_integer("rows", 200, "Number of flats.")
flags.DEFINE_integer("bands", 4, "Number of price bands.")
flags.DEFINE_integer("batch_size", 32, "Batch size.")
flags.DEFINE_bool("cache", True, "Keep the batches in memory.")

COLUMNS = ["area", "rooms", "floor", "year", "lift", "balcony"]
BATCH = FLAGS.batch_size


def flats(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(FLAGS.rows, len(COLUMNS))).astype("float32")
    score = x @ rng.normal(size=len(COLUMNS))
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, FLAGS.bands + 1)[1:-1]))
    ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH)
    return ds.cache() if FLAGS.cache else ds
