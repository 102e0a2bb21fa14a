import numpy as np
import tensorflow as tf

CLASSES = ["healthy", "rust", "scab", "mildew"]


class LeafClassifier:
    def __init__(self, path):
        self.model = tf.keras.models.load_model(path, compile=False)

    def preprocess(self, img):
        # the gimbal leaves a dark rim of 8 px
        return img[8:-8, 8:-8].astype("float32") / 255.0

    def classify(self, img):
        x = np.expand_dims(self.preprocess(img), axis=0)
        probs = self.model.predict(x, verbose=0)[0]
        k = int(np.argmax(probs))
        return CLASSES[k], float(probs[k])
