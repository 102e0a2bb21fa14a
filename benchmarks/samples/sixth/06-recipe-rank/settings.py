# All the knobs of the ranker. Import this module, do not copy numbers.

DATA = {
    "n_users": 30,
    "n_recipes": 40,
    "n_events": 64,
    "batch_size": 16,
    "seed": 4,
}

MODEL = {
    "dim": 8,
    "tower_units": [16, 8],
    "activation": "leaky-relu",
    "l2": 1e-6,
    "normalise": True,
}

TRAIN = {
    "optimizer": "adagrad",
    "lr": 0.1,
    "epochs": 2,
    "loss": "binary_crossentropy",
}

CHECKPOINT = "ckpt/ranker.hdf5"
EXPORT_DIR = "export"
TOP_K = 5
