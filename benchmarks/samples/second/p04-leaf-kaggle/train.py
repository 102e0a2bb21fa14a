import sys

import numpy as np
from tensorflow import keras

from common import get_cfg
from net import get_model


def main():
    args = get_cfg(sys.argv[1] if len(sys.argv) > 1 else "exp001.yaml")
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    x = rng.random((24, *args.shape), dtype="float32")
    y = rng.integers(0, args.target_size, 24)
    folds = np.arange(24) % args.n_fold
    for fold in args.trn_folds:
        trn = folds != fold
        steps = args.epochs * int(np.ceil(trn.sum() / args.bs))
        model = get_model(args, steps)
        log = model.fit(x[trn], y[trn], batch_size=args.bs, epochs=args.epochs, verbose=0)
        print("fold", fold, "loss", log.history["loss"], "rate", float(model.optimizer.learning_rate))


if __name__ == "__main__":
    main()
