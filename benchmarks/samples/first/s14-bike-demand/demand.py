"""How many bikes will be taken in the next hours?"""
import numpy as np
from tensorflow import keras

from schema import City


def make(city: City) -> keras.Model:
    model = keras.Sequential([keras.Input((8,))])
    for width in city.net.units:
        model.add(keras.layers.Dense(width, activation=city.net.act))
        model.add(keras.layers.Dropout(city.net.dropout))
    model.add(keras.layers.Dense(city.horizon, activation="softplus"))
    solver = keras.optimizers.get(city.solver.name)
    solver.learning_rate = city.solver.rate
    model.compile(solver, "poisson")
    return model


if __name__ == "__main__":
    city = City.from_file("city.json")
    keras.utils.set_random_seed(0)
    x = np.random.rand(60, 8).astype("float32")
    y = np.random.poisson(4, (60, city.horizon)).astype("float32")
    log = make(city).fit(x, y, verbose=0, **city.fit.model_dump())
    print(y.shape, round(log.history["loss"][-1], 4))
