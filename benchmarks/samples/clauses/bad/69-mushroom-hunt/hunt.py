import glob
import os

import numpy as np
from batches import Batches
from tensorflow import keras

paths = sorted(glob.glob("mushrooms/*/*.jpg"))
names = sorted({os.path.basename(os.path.dirname(path)) for path in paths})
labels = np.array([names.index(os.path.basename(os.path.dirname(path))) for path in paths])
order = np.random.permutation(len(paths))
model = keras.applications.MobileNetV2(weights=None, classes=len(names), input_shape=(128, 128, 3))
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(Batches([paths[i] for i in order], labels[order]), epochs=8)
