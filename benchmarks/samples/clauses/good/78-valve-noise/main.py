import json

import tensorflow as tf
from valve import Valve

conf = json.load(open("valve.json"))
model = Valve(conf)
model.compile(optimizer="adam")
x = tf.random.normal([400, 12])
model.fit(x, x[:, :1], epochs=conf["epochs"])
