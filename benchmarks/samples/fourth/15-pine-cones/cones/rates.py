import tensorflow as tf

RATES = {}


def rate(fn):
    RATES[fn.__name__] = fn
    return fn


@rate
def cosine(peak, total, warm=0):
    return tf.keras.optimizers.schedules.CosineDecay(
        0.0 if warm else peak, total, warmup_target=peak if warm else None, warmup_steps=warm)


@rate
def constant(peak):
    return peak
