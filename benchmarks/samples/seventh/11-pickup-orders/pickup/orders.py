"""Orders per store and hour, made up."""
import numpy as np
import tensorflow as tf


def table(conf):
    rng = np.random.default_rng(2)
    rows = conf["store_count"] * conf["days"] * 2
    cols = {
        "store": rng.integers(0, conf["store_count"], rows),
        "weekday": rng.integers(0, 7, rows),
        "hour": rng.uniform(8, 22, rows).round(1),
        "rain": rng.integers(0, 2, rows),
    }
    y = 4 + cols["store"] * 0.5 + 3 * (cols["weekday"] > 4) - 0.2 * abs(cols["hour"] - 17) - cols["rain"]
    return cols, (y + rng.normal(0, 0.5, rows)).astype("float32")[:, None]


def dataset_fn(conf):
    cols, y = table(conf)
    dense = np.stack([cols[c] for c in conf["features"] if c != "store"], 1).astype("float32")
    store = cols["store"].astype("int32")

    def scale(features, target):
        return {"store": features["store"], "numbers": features["numbers"] / 24.0}, target

    def make(ctx):
        batch = ctx.get_per_replica_batch_size(conf["global_batch"])
        ds = tf.data.Dataset.from_tensor_slices(({"store": store, "numbers": dense}, y))
        ds = ds.shard(ctx.num_input_pipelines, ctx.input_pipeline_id).shuffle(len(y))
        ds = ds.map(scale, num_parallel_calls=conf["training"]["input_threads"])
        return ds.batch(batch, drop_remainder=True).prefetch(2)

    return make
