import numpy as np
import tensorflow as tf

from models import big, frozen_copy, small

tf.keras.utils.set_random_seed(4)
F, C, T = 10, 4, 2.0
centres = np.random.randn(C, F) * 2
label = np.random.randint(0, C, 800)
x = (centres[label] + np.random.randn(800, F)).astype("float32")

xent = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
teacher = big(F, C)
teacher.compile("adam", xent, metrics=["accuracy"])
teacher.fit(x[:600], label[:600], epochs=10, verbose=0)
print("teacher", teacher.evaluate(x[600:], label[600:], verbose=0)[1])


class Distiller(tf.keras.Model):
    def __init__(self, teacher, student):
        super().__init__()
        self.teacher = frozen_copy(teacher)
        self.student = student

    def call(self, inputs, training=False):
        return self.student(inputs, training=training)

    def train_step(self, data):
        bx, _ = data
        soft = tf.nn.softmax(self.teacher(bx, training=False) / T)
        with tf.GradientTape() as tape:
            out = self.student(bx, training=True) / T
            loss = tf.reduce_mean(tf.keras.losses.categorical_crossentropy(soft, out, from_logits=True)) * T * T
        v = self.student.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, v), v))
        return {"loss": loss}


d = Distiller(teacher, small(F, C))
d.compile(tf.keras.optimizers.Adam(0.01))
d.fit(x[:600], label[:600], epochs=10, verbose=0)
guess = d.predict(x[600:], verbose=0).argmax(1)
print("student", float((guess == label[600:]).mean()))
