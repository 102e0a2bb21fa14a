from tensorflow import keras

CELLS = {"gru": keras.layers.GRU, "lstm": keras.layers.LSTM, "rnn": keras.layers.SimpleRNN}


def build(conf, horizon, sensors):
    recurrent = CELLS[conf.cell](conf.units, recurrent_dropout=conf.recurrent_dropout)
    return keras.Sequential([
        keras.Input((None, sensors)),
        recurrent,
        keras.layers.Dense(horizon),
    ])
