"""What would the forecasts have earned?"""
import configparser

import numpy as np
import tensorflow as tf

import ticks

cfg = configparser.ConfigParser()
cfg.read("fx.ini")
x, y = ticks.load(cfg["series"], cfg["backtest"].getint("seed"))
model = tf.keras.models.load_model("fx.keras")
move = model.predict(x, verbose=0)[:, 0] - x[:, -1, 0]
held = np.repeat(np.sign(move[::cfg["backtest"].getint("hold")]), cfg["backtest"].getint("hold"))[:len(y)]
gain = held * (y - x[:, -1, 0])
print("gain", float(gain.sum() - cfg["backtest"].getfloat("fee") * (held != 0).sum()))
