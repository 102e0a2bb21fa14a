import numpy as np


def classify(net, image):
    batch = np.expand_dims(image.astype("float32"), 0)
    return int(net.predict(batch, verbose=0).argmax())
