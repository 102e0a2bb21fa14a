import tensorflow as tf

model = tf.keras.applications.ResNet50(weights=None, classes=20, input_shape=(96, 96, 3))
optimizer = tf.keras.optimizers.Adam()


def read(path, label):
    picture = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(picture, (96, 96)) / 255.0, label


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, model(x, training=True)))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


rows = [line.split(",") for line in open("beetles.csv").read().splitlines()]
data = tf.data.Dataset.from_tensor_slices(([row[0] for row in rows], [int(row[1]) for row in rows])).shuffle(len(rows))
data = data.map(read, num_parallel_calls=tf.data.AUTOTUNE).batch(16).prefetch(2)
for epoch in range(10):
    for x, y in data:
        loss = step(x, y)
    print(epoch, float(loss))
