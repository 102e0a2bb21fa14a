import tensorflow as tf
from codes import Codes

model = Codes(8)
opt = tf.keras.optimizers.Adam(1e-3)
WARMUP = 3000.0


@tf.function
def step(x, beta):
    with tf.GradientTape() as tape:
        back, mean, spread = model(x, training=True)
        rest = tf.reduce_mean(tf.reduce_sum((back - x) ** 2, -1))
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + spread - mean**2 - tf.exp(spread), -1))
        loss = rest + beta * kl
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


def train(data, epochs):
    seen = 0
    for epoch in range(epochs):
        for x in data:
            beta = min(1.0, seen / WARMUP)
            loss = step(x, beta)
            seen += 1
        print(epoch, float(loss))


train(tf.data.Dataset.from_tensor_slices(tf.random.normal([8192, 64])).batch(64), 5)
