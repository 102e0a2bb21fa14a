"""python after.py evaluate | export"""
import sys

import tensorflow as tf
from tensorflow import keras

import conf
import harbour


def evaluate(net, metrics, batch):
    net.compile(loss="mse", metrics=metrics)
    print(net.evaluate(*harbour.crossings(), batch_size=batch, verbose=0, return_dict=True))


def export(net, signature, dtype):
    archive = keras.export.ExportArchive()
    archive.track(net)
    spec = tf.TensorSpec((None, len(conf.get("features"))), dtype)
    archive.add_endpoint(signature, net.call, [spec])
    archive.write_out(conf.path("export"))


if __name__ == "__main__":
    task = {"evaluate": "eval", "export": "export"}[sys.argv[1]]
    globals()[sys.argv[1]](keras.models.load_model(conf.path("model")), **conf.get(task))
