import numpy as np

from nets import pair_model

a = np.random.rand(128, 10)
b = np.random.rand(128, 10)
same = (np.abs(a - b).sum(1) < 3.0).astype("float32")

m = pair_model()
m.compile("adam", "binary_crossentropy")
m.fit([a, b], same, epochs=2, verbose=2)
