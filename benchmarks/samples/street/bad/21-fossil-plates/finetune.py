import numpy as np
import tensorflow as tf

from backbone import encoder, with_head
from plates import plates


def pretrain(base):
    x, y = plates(900, kinds=(0, 2), seed=1)
    model = with_head(base, 2)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=3, batch_size=32, verbose=0)


def snapshot(base):
    return [w.copy() for w in base.get_weights()]


def drift(base, before):
    return sum(float(np.abs(a - b).sum()) for a, b in zip(base.get_weights(), before))


def main():
    tf.keras.utils.set_random_seed(21)
    base = encoder()
    pretrain(base)

    x, y = plates(1000, kinds=(0, 1, 2, 3, 4), seed=2)
    x_val, y_val = plates(300, kinds=(0, 1, 2, 3, 4), seed=3)

    base.trainable = False
    model = with_head(base, 5)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(1e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.fit(x, y, validation_data=(x_val, y_val), epochs=4, batch_size=32, verbose=2)

    print("unfreezing the encoder")
    base.trainable = True
    before = snapshot(base)
    model.fit(x, y, validation_data=(x_val, y_val), epochs=6, batch_size=32, verbose=2)
    print("encoder weights moved by %.3f" % drift(base, before))
    print("final val accuracy %.3f" % model.evaluate(x_val, y_val, verbose=0)[1])


if __name__ == "__main__":
    main()
