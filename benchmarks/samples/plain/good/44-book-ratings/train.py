import numpy as np
import tensorflow as tf

from model import Factorizer
from ratings import read_ratings

tf.keras.utils.set_random_seed(8)
user, book, rating = read_ratings()
n_users, n_books = int(user.max()) + 1, int(book.max()) + 1
print("users", len(np.unique(user)), "books", len(np.unique(book)))

cut = int(0.9 * len(rating))
train = ((user[:cut], book[:cut]), rating[:cut, None])
test = ((user[cut:], book[cut:]), rating[cut:, None])

model = Factorizer(n_users, n_books)
model.compile(optimizer=tf.keras.optimizers.Adam(2e-2), loss="mse", metrics=["mae"])
model.fit(*train, batch_size=128, epochs=15, verbose=0)
scores = model.evaluate(*test, verbose=0, return_dict=True)
print("test mae", round(scores["mae"], 3), "spread", round(float(rating[cut:].std()), 3))
