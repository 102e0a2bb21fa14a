import tensorflow as tf
from steps import Trainer


def build():
    return tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])


trainer = Trainer(tf.distribute.MirroredStrategy(), build)
x = tf.random.normal([512, 6])
data = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(64)
for batch in trainer.strategy.experimental_distribute_dataset(data):
    trainer.step(batch)
