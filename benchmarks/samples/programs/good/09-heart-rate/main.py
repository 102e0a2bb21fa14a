import numpy as np
import tensorflow as tf
from trainer import Trainer

ppg = np.random.randn(320, 40).astype('float32')
bpm = ppg.std(axis=1, keepdims=True)

model = tf.keras.Sequential([tf.keras.Input((40,)), tf.keras.layers.Dense(16, 'relu'), tf.keras.layers.Dense(1)])
ds = tf.data.Dataset.from_tensor_slices((ppg, bpm)).shuffle(320, seed=1).batch(32)

Trainer(model).fit(ds, epochs=3)
