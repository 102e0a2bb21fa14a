"""When will the lamp fail?"""
import tomllib

from tensorflow import keras

from lamps import Engine, Pipeline

with open("lamps.toml", "rb") as stream:
    plan = tomllib.load(stream)

keras.utils.set_random_seed(1)
data = Pipeline(**plan["pipeline"]).dataset()
model = Engine(**plan["engine"]).compile(keras.Sequential([keras.layers.Dense(8, "relu"), keras.layers.Dense(1)]))
log = model.fit(data, epochs=plan["loop"]["nights"], initial_epoch=plan["loop"]["resume_from"], verbose=0)
print(log.history)
