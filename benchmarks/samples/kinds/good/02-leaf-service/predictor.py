import numpy as np
import tensorflow as tf

CLASSES = ["healthy", "rust", "scab", "mildew"]


class LeafClassifier:
    def __init__(self, path):
        self.model = tf.keras.models.load_model(path, compile=False)

    def preprocess(self, img):
        # the gimbal leaves a dark rim of 8 px
        return img[8:-8, 8:-8].astype("float32") / 255.0

    def classify(self, imgs):
        x = np.stack([self.preprocess(img) for img in imgs])
        probs = self.model.predict(x, verbose=0)
        best = np.argmax(probs, axis=1)
        return [(CLASSES[k], float(p[k])) for k, p in zip(best, probs)]
