import argparse
import os

import numpy as np
import tensorflow as tf
import yaml


def feature(values):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[values.tobytes()]))


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--config", default="change.yaml")
    p.add_argument("--out", default="data/records")
    p.add_argument("--shards", type=int, default=2)
    args = p.parse_args()
    with open(args.config) as f:
        d = yaml.safe_load(f)["dataset"]
    rng = np.random.default_rng(0)
    os.makedirs(args.out, exist_ok=True)
    for shard in range(args.shards):
        with tf.io.TFRecordWriter(f"{args.out}/{shard:03d}.tfrecord") as w:
            for _ in range(20):
                before = rng.random((d["tile"], d["tile"], d["bands"]), dtype="float32")
                changed = rng.random() > 0.5
                after = (1 - before if changed else before).astype("float32")
                example = tf.train.Example(features=tf.train.Features(feature={
                    "before": feature(before), "after": feature(after),
                    "label": tf.train.Feature(float_list=tf.train.FloatList(value=[float(changed)]))}))
                w.write(example.SerializeToString())
