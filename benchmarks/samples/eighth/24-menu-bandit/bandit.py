"""Suggest the dish of the day: python bandit.py @lunch.args [--monitor=val_loss]"""
import numpy as np
import tensorflow as tf

from options import parse


def build(context, dishes, hidden, dropout, **_):
    model = tf.keras.Sequential([tf.keras.Input((context,))])
    for units in hidden:
        model.add(tf.keras.layers.Dense(units, activation="relu"))
        model.add(tf.keras.layers.Dropout(dropout))
    model.add(tf.keras.layers.Dense(dishes))
    return model


def main():
    args, extra = parse()
    tf.keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    taste = rng.normal(size=(args.context, args.dishes))
    model = build(**vars(args))
    model.compile(tf.keras.optimizers.Adam(args.rate), "mse", **{"run_eagerly": bool(int(extra.get("eager", 0)))})

    x = rng.normal(size=(args.rounds, args.context)).astype("float32")
    q = model.predict(x, verbose=0)
    if args.double_q:
        q = (q + model.predict(x[:, ::-1], verbose=0)) / 2
    explore = rng.random(args.rounds) < args.epsilon
    dish = np.where(explore, rng.integers(0, args.dishes, args.rounds), q.argmax(1))
    liked = np.take_along_axis(x @ taste, dish[:, None], 1)[:, 0]
    goal = q.copy()
    goal[np.arange(args.rounds), dish] = liked
    history = model.fit(x, goal, args.batch_size, epochs=2, shuffle=args.shuffle, validation_split=0.25, verbose=0,
                        callbacks=[tf.keras.callbacks.EarlyStopping(extra.get("monitor", "val_loss"), patience=1)])
    print("loss %.5f" % history.history["loss"][-1])


if __name__ == "__main__":
    main()
