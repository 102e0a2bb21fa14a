import numpy as np
import tensorflow as tf


class Trainer(object):

    def __init__(self, model, lr=1e-2, clip=1.0):
        self.model = model
        self.optimizer = tf.keras.optimizers.Adam(lr)
        self.clip = clip
        self.batch_losses = []
        self.history = {'loss': []}

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            pred = self.model(x, training=True)
            loss = tf.reduce_mean(tf.keras.losses.huber(y, pred))
        grads = tape.gradient(loss, self.model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, self.clip)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        self.batch_losses.append(loss)
        return loss

    def fit(self, ds, epochs):
        for epoch in range(epochs):
            for x, y in ds:
                self.train_step(x, y)
            self.history['loss'].append(float(np.mean(self.batch_losses)))
            self.batch_losses.clear()
            print('epoch', epoch, self.history['loss'][-1])
        return self.history
