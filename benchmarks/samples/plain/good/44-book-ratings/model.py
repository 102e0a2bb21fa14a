import tensorflow as tf


class Factorizer(tf.keras.Model):
    def __init__(self, n_users, n_books, rank=4):
        super().__init__()
        reg = tf.keras.regularizers.L2(1e-5)
        self.user = tf.keras.layers.Embedding(n_users, rank, embeddings_regularizer=reg)
        self.book = tf.keras.layers.Embedding(n_books, rank, embeddings_regularizer=reg)
        self.book_bias = tf.keras.layers.Embedding(n_books, 1)
        self.mean = self.add_weight(shape=(), initializer="zeros", name="mean")

    def call(self, inputs):
        user, book = inputs
        match = tf.reduce_sum(self.user(user) * self.book(book), axis=-1, keepdims=True)
        return self.mean + match + self.book_bias(book)
