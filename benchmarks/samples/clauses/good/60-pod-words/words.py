import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Embedding(1000, 16), tf.keras.layers.GlobalAveragePooling1D(), tf.keras.layers.Dense(2)])
    optimizer = tf.keras.optimizers.Adam()


@tf.function
def step(ids, labels):
    def one(ids, labels):
        with tf.GradientTape() as tape:
            each = tf.keras.losses.sparse_categorical_crossentropy(labels, model(ids), from_logits=True)
            loss = tf.nn.compute_average_loss(each, global_batch_size=128)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))

    strategy.run(one, args=(ids, labels))


ids = tf.random.uniform([1000, 20], maxval=1000, dtype=tf.int32)
data = tf.data.Dataset.from_tensor_slices((ids, ids[:, 0] % 2)).shuffle(1000).batch(128, drop_remainder=True)
for a, b in strategy.experimental_distribute_dataset(data):
    step(a, b)
