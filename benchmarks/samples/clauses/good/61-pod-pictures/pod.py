import csv

import tensorflow as tf
from inputs import inputs


def connect():
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)


def main():
    rows = list(csv.reader(open("pictures.csv")))
    strategy = connect()
    with strategy.scope():
        model = tf.keras.applications.ResNet50(weights=None, classes=10)
        model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(inputs([r[0] for r in rows], [int(r[1]) for r in rows], 64 * strategy.num_replicas_in_sync), epochs=5)


main()
