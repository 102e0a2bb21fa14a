import numpy as np
import tensorflow as tf

import audio_data

waves = np.random.randn(64, 1280).astype("float32")
keyword = np.random.randint(0, 3, 64)

model = tf.keras.Sequential([tf.keras.layers.LSTM(8), tf.keras.layers.Dense(3, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(audio_data.dataset(waves, keyword), epochs=1, verbose=2)
