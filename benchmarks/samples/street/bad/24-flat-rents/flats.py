import numpy as np

FIELDS = ("area", "rooms", "floor", "distance", "age", "lift")


def listings(n, seed):
    rng = np.random.default_rng(seed)
    area = rng.gamma(6.0, 11.0, n)
    rooms = np.clip((area / 24 + rng.normal(0, 0.5, n)).round(), 1, 7)
    floor = rng.integers(0, 9, n)
    distance = rng.gamma(2.0, 2.3, n)
    age = rng.integers(0, 110, n)
    lift = (rng.random(n) < 0.5).astype(float)
    rent = 190 + 11.5 * area + 20 * rooms - 32 * distance - 0.8 * age + 35 * lift
    rent = rent + rng.normal(0, 55, n)
    x = np.stack([area, rooms, floor, distance, age, lift], axis=1)
    return x.astype("float32"), rent.astype("float32")
