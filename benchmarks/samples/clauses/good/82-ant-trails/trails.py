import glob

import tensorflow as tf
from records import Records

model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(Records(30).read(sorted(glob.glob("trails/*.rec")), 256))
