import tensorflow as tf


class EmaCopy:
    def __init__(self, model, decay=0.95):
        self.decay = decay
        self.source = model
        self.model = tf.keras.models.clone_model(model)
        self.model.set_weights(model.get_weights())

    def update(self):
        pairs = zip(self.model.variables, self.source.variables)
        for average, value in pairs:
            average.assign(self.decay * average + (1.0 - self.decay) * value)
