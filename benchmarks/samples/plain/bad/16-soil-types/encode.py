import numpy as np


def encode(names):
    classes, codes = np.unique(names, return_inverse=True)
    return codes.astype("int32"), list(classes)
