import tensorflow as tf


def length(text):
    return tf.shape(tf.strings.split(text))[0]


def with_length(text, label):
    return {"text": text, "length": length(text)}, label


def texts(path):
    lines = tf.data.TextLineDataset(path)
    data = lines.map(lambda line: (tf.strings.split(line, "\t")[0], tf.strings.split(line, "\t")[1]))
    return data.map(with_length, num_parallel_calls=tf.data.AUTOTUNE).batch(32)


for features, label in texts("reviews.tsv").take(2):
    print(features["length"])
