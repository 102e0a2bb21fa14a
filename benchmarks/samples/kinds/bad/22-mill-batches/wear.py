import tensorflow as tf
from loader import make_ds, vibration

BATCH = 32

x, y = vibration()
train = make_ds(x[:800], y[:800], BATCH, shuffle=True)
test = make_ds(x[800:], y[800:], BATCH)

train = train.batch(BATCH).prefetch(tf.data.AUTOTUNE)

net = tf.keras.Sequential([
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dense(1),
])
net.build((None, 32))
opt = tf.keras.optimizers.Adam(1e-3)


@tf.function(reduce_retracing=True)
def step(a, b):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(tf.squeeze(net(a), -1) - b))
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


for epoch in range(4):
    seen = 0
    for a, b in train:
        loss = step(a, b)
        seen += 1
    err = [float(tf.reduce_mean(tf.abs(net(a)[:, 0] - b))) for a, b in test]
    print(f"epoch {epoch}: {seen} updates, loss {float(loss):.3f}, test mae {sum(err) / len(err):.3f}, batch {tuple(a.shape)}")
