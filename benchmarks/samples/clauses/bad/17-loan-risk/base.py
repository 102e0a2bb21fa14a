from tensorflow import keras


class Estimator:
    def __init__(self, width):
        self.width = width
        self.model = self.build()

    def build(self):
        model = keras.Sequential([keras.layers.Input((self.width,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
        model.compile("adam", "binary_crossentropy")
        return model
