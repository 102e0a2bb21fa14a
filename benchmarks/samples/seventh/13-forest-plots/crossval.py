import sys

import numpy as np
import tensorflow as tf

from model import Regressor
from settings import from_yaml
from survey import folds, survey


def compiled(settings):
    model = Regressor(settings.network, settings.data.n_features)
    t = settings.training
    model.compile(tf.keras.optimizers.AdamW(t.learning_rate, weight_decay=t.weight_decay),
                  loss="mse", metrics=["mae"])
    return model


def main(path="plots.yaml"):
    settings = from_yaml(path)
    tf.keras.utils.set_random_seed(31)
    x, y = survey(settings.data)
    settings.data.n_features = x.shape[1]
    t = settings.training

    scores = []
    model = compiled(settings)
    for k, (train, test) in enumerate(folds(len(x), t.folds)):
        stop = tf.keras.callbacks.EarlyStopping("val_loss", patience=t.patience,
                                                restore_best_weights=True)
        model.fit(x[train], y[train], validation_data=(x[test], y[test]), epochs=t.epochs,
                  batch_size=t.batch_size, callbacks=[stop], verbose=0)
        scores.append(model.evaluate(x[test], y[test], verbose=0)[1])
        print(f"fold {k}: mae {scores[-1]:.4f}")
    print(f"mae {np.mean(scores):.4f} +- {np.std(scores):.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
