"""Turn a nested section into tf.data.Options."""
import tensorflow as tf


def fill(target, values):
    for name, value in values.items():
        if isinstance(value, dict):
            fill(getattr(target, name), value)
        else:
            setattr(target, name, value)
    return target


def make(section):
    return fill(tf.data.Options(), section)
