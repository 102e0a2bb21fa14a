"""Far too short a training for a judgement."""

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones([40, 3]), np.ones([40, 1]), batch_size=8, verbose=0)
