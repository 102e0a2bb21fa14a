import numpy as np
from tensorflow.keras import Input, Sequential, layers

from vocab import encode, word_index

tickets = [
    "printer on floor two is jammed",
    "cannot log in to payroll",
    "password reset mail never arrives",
    "screen flickers after update",
    "payroll shows wrong month",
    "printer toner empty",
] * 8
team = np.array([0, 1, 1, 0, 1, 0] * 8)

index = word_index(tickets)
x = np.array(encode(tickets, index, 8))
vocab_size = len(index)

model = Sequential(
    [
        Input((8,)),
        layers.Embedding(vocab_size, 12, mask_zero=True),
        layers.LSTM(8),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(x, team, epochs=3, verbose=2)
