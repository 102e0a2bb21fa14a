import tensorflow as tf


class Painter:
    def __init__(self, content, layers=("block2_conv1", "block4_conv2")):
        vgg = tf.keras.applications.VGG19(include_top=False)
        vgg.trainable = False
        self.features = tf.keras.Model(vgg.input, [vgg.get_layer(name).output for name in layers])
        self.targets = self.features(content)
        self.picture = tf.Variable(content)
        self.optimizer = tf.keras.optimizers.Adam(0.02)

    # @tf.function
    def paint(self):
        with tf.GradientTape() as tape:
            found = self.features(self.picture)
            loss = tf.add_n([tf.reduce_mean((a - b) ** 2) for a, b in zip(found, self.targets)])
        grad = tape.gradient(loss, self.picture)
        self.optimizer.apply_gradients([(grad, self.picture)])
        self.picture.assign(tf.clip_by_value(self.picture, 0.0, 1.0))
        return loss

    def run(self, limit=1000):
        count = 0
        while count < limit:
            loss = self.paint()
            count += 1
            if count % 100 == 0:
                print(count, float(loss))
        return self.picture


if __name__ == "__main__":
    Painter(tf.random.uniform([1, 224, 224, 3])).run()
