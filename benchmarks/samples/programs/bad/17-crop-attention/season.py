import numpy as np
from tensorflow.keras.layers import Bidirectional, Dense, GRU, Input
from tensorflow.keras.models import Model

from pooling import AttentionPooling

STEPS, BANDS, CROPS = 10, 4, 3


def get_model():
    inp = Input(shape=(STEPS, BANDS))
    x = Bidirectional(GRU(6, return_sequences=True))(inp)
    x = AttentionPooling()(x)
    out = Dense(CROPS, activation='softmax')(x)
    model = Model(inputs=inp, outputs=out)
    model.compile(loss='sparse_categorical_crossentropy', optimizer='rmsprop', metrics=['acc'])
    return model


X = np.random.rand(96, STEPS, BANDS)
y = np.random.randint(0, CROPS, 96)
get_model().fit(X, y, batch_size=16, epochs=1, verbose=2)
