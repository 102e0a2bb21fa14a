import resource
import time

import tensorflow as tf

from coins import coins
from grader import build


def main():
    tf.keras.utils.set_random_seed(45)
    x, y = coins(160, 1)
    x_val, y_val = coins(64, 2)
    model = build()
    model.compile(
        optimizer=tf.keras.optimizers.Adam(5e-4),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    print("weights:", f"{model.count_params():,}")
    start = time.perf_counter()
    model.fit(x, y, validation_data=(x_val, y_val), epochs=2, batch_size=16, verbose=2)
    print("%.1f s" % (time.perf_counter() - start))
    print("peak %d MB" % (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024))


if __name__ == "__main__":
    main()
