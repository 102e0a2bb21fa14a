import tensorflow as tf

from gan import TabularGan

gan = TabularGan(6)
step = tf.function(gan.step)
rows = tf.data.Dataset.from_tensor_slices(tf.random.normal([256, 6])).shuffle(256).batch(32, drop_remainder=True)
for epoch in range(2):
    for real in rows:
        g, d = step(real)
    print(epoch, float(g), float(d))
