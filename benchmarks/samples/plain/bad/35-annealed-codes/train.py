import numpy as np
import tensorflow as tf

from trainer import Trainer

tf.keras.utils.set_random_seed(25)
rng = np.random.default_rng(25)
data = (rng.normal(size=(800, 3)) @ rng.normal(size=(3, 16))).astype("float32")
ds = tf.data.Dataset.from_tensor_slices(data).shuffle(800).batch(40).prefetch(2)

encoder = tf.keras.Sequential([
    tf.keras.Input((16,)),
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dense(6),
])
decoder = tf.keras.Sequential([
    tf.keras.Input((3,)),
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dense(16),
])
trainer = Trainer(encoder, decoder, warmup=100)

for epoch in range(10):
    trainer.beta.reset_state()
    trainer.kl.reset_state()
    for x in ds:
        trainer.train_step(x)
    print(f"epoch {epoch} beta {float(trainer.beta.result()):.2f} "
          f"kl {float(trainer.kl.result()):.2f}")
