import tensorflow as tf


def split(x, y):
    whole = tf.data.Dataset.from_tensor_slices((x, y))
    return whole.take(800).shuffle(800).batch(40), whole.skip(800).batch(40)


def main():
    x = tf.random.normal([1000, 6])
    train_data, test_data = split(x, tf.cast(x[:, 0] > 0, tf.int32))
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, activation="softmax")])
    optimizer = tf.keras.optimizers.Adam()
    test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def train_step(a, b):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(b, model(a, training=True)))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

    @tf.function
    def test_step(a, b):
        test_accuracy.update_state(b, model(a, training=False))

    for epoch in range(5):
        for a, b in train_data:
            train_step(a, b)
        test_accuracy.reset_state()
        for a, b in train_data:
            test_step(a, b)
        print(epoch, float(test_accuracy.result()))


main()
