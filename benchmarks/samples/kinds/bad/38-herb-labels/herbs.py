import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense, Dropout, Input
from tensorflow.keras.utils import to_categorical

NAMES = ["basil", "mint", "sage", "thyme"]
np.random.seed(0)
labels = np.random.randint(0, 4, 800)
X = np.random.randn(800, 10) + np.eye(10)[labels] * 2.5
Y = to_categorical(labels, num_classes=4)

model = Sequential()
model.add(Input(shape=(10,)))
model.add(Dense(32, activation="relu"))
model.add(Dropout(0.2))
model.add(Dense(4, activation="softmax"))
model.compile(loss="categorical_crossentropy", optimizer="rmsprop", metrics=["accuracy"])
model.fit(X[:600], Y[:600], epochs=5, batch_size=32, verbose=0)

loss, acc = model.evaluate(X[600:], Y[600:], verbose=0)
print("test accuracy: %.2f%%" % (acc * 100))

y_pred = model.predict_classes(X[600:])
conf = np.zeros((4, 4), int)
for t, p in zip(labels[600:], y_pred):
    conf[t, p] += 1
print(conf)
for i, name in enumerate(NAMES):
    print(name, "recall %.2f" % (conf[i, i] / conf[i].sum()))
