import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def conv_bn(filters):
    return [layers.Conv2D(filters, 3, use_bias=False), layers.BatchNormalization(momentum=0.7), layers.ReLU()]


net = tf.keras.Sequential(
    [tf.keras.Input((14, 14, 1)), *conv_bn(8), *conv_bn(8), layers.Flatten(), layers.Dropout(0.4), layers.Dense(2)]
)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.SGD(0.003, momentum=0.9)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = net(x)
        loss = loss_fn(y, logits)
    variables = net.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


@tf.function
def accuracy(x, y):
    guess = tf.argmax(net(x, training=False), -1)
    return tf.reduce_mean(tf.cast(guess == y, tf.float32))


cells = (np.random.rand(128, 14, 14, 1) * 40 + 100).astype("float32")
kind = np.random.randint(0, 2, 128)
cells[kind == 1] += 5
for epoch in range(15):
    for i in range(0, 128, 32):
        loss = train_step(cells[i : i + 32], kind[i : i + 32])
    print(epoch, float(loss), float(accuracy(cells, kind)))
print("moving mean", net.layers[1].moving_mean.numpy()[:3])
