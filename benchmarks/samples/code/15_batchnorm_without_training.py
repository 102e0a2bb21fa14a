import tensorflow as tf
from tensorflow.keras import layers


class SmallResNet(tf.keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.stem = layers.Conv2D(8, 3, padding="same")
        self.norm = layers.BatchNormalization()
        self.pool = layers.GlobalAveragePooling2D()
        self.drop = layers.Dropout(0.5)
        self.head = layers.Dense(classes)

    def call(self, images, training=False):
        h = tf.nn.relu(self.norm(self.stem(images), training=training))
        return self.head(self.drop(self.pool(h), training=training))


net = SmallResNet(5)
criterion = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9)


@tf.function
def update(images, labels):
    with tf.GradientTape() as tape:
        loss = criterion(labels, net(images))
    grads = tape.gradient(loss, net.trainable_weights)
    optimizer.apply_gradients(zip(grads, net.trainable_weights))
    return loss


images = tf.random.uniform([80, 16, 16, 3])
labels = tf.random.uniform([80], 0, 5, tf.int32)
data = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(80).batch(20).prefetch(2)
for epoch in range(3):
    for batch in data:
        loss = update(*batch)
    print(epoch, float(loss))
