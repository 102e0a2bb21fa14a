import tensorflow as tf

LATENT = 4
generator = tf.keras.Sequential([tf.keras.Input((LATENT,)), tf.keras.layers.Dense(8)])
critic = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(1)])
g_opt = tf.keras.optimizers.Adam(1e-4)
c_opt = tf.keras.optimizers.Adam(1e-4)


@tf.function
def gan_step(real):
    noise = tf.random.normal([tf.shape(real)[0], LATENT])
    with tf.GradientTape() as c_tape, tf.GradientTape() as g_tape:
        fake = generator(noise, training=True)
        score_real, score_fake = critic(real, training=True), critic(fake, training=True)
        c_loss = tf.reduce_mean(tf.nn.softplus(-score_real)) + tf.reduce_mean(tf.nn.softplus(score_fake))
        g_loss = tf.reduce_mean(tf.nn.softplus(-score_fake))
    c_grad = c_tape.gradient(c_loss, critic.trainable_variables)
    g_grad = g_tape.gradient(g_loss, generator.trainable_variables)
    c_opt.apply_gradients(zip(c_grad, critic.trainable_variables))
    g_opt.apply_gradients(zip(g_grad, generator.trainable_variables))
    return g_loss, c_loss


for batch in tf.data.Dataset.from_tensor_slices(tf.random.normal([64, 8])).shuffle(64).batch(16).prefetch(2):
    g_loss, c_loss = gan_step(batch)
print(float(g_loss), float(c_loss))
