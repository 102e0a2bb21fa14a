import numpy as np


def classify(net, image):
    batch = np.expand_dims(image.astype("float32") / 255.0, 0)
    return int(net.predict(batch, verbose=0).argmax())
