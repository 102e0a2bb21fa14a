import tensorflow as tf
from feed import Feed

feed = Feed(open("news.txt"), "news.model")
data = tf.data.Dataset.from_generator(feed.rows, output_signature=tf.TensorSpec((None,), tf.int32))
for ids in data.padded_batch(16).prefetch(2):
    print(ids.shape)
