import json
import os
import sys

import tensorflow as tf

def main(index):
    workers = ["a.local:5000", "b.local:5000"]
    os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}})
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(4)])
        model.compile("adam", "mse")
    x = tf.random.normal([64, 4])
    model.fit(x, x)


main(int(sys.argv[1]))
