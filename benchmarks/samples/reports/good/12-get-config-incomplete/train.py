import keras
import numpy as np

from layers_lib import PatchEmbed, TokenScale

inp = keras.Input((32, 32, 4))
h = PatchEmbed(8, 24)(inp)
h = TokenScale()(h)
h = keras.layers.GlobalAveragePooling1D()(h)
net = keras.Model(inp, keras.layers.Dense(2)(h))
net.compile("adam", "mse")

tiles = np.random.rand(40, 32, 32, 4)
cover = np.random.rand(40, 2)
net.fit(tiles, cover, epochs=1, verbose=2)
net.save("cover.keras")

served = keras.models.load_model("cover.keras")
print(np.allclose(served.predict(tiles, verbose=0), net.predict(tiles, verbose=0), atol=1e-5))
