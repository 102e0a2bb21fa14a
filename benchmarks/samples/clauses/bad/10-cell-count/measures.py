import tensorflow_addons as tfa


def kappa(classes):
    return tfa.metrics.CohenKappa(num_classes=classes)
