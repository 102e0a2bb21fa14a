from typing import NamedTuple

import tensorflow as tf


class Engine(NamedTuple):
    eager: bool
    jit: bool
    per_call: int = 1

    def compile(self, model):
        tf.config.run_functions_eagerly(self.eager)
        model.compile("adam", "mse", jit_compile=self.jit, steps_per_execution=self.per_call)
        return model
