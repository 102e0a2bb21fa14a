"""No training at all."""

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
print(model.predict(np.ones([400, 3]), batch_size=8, verbose=0).shape)
