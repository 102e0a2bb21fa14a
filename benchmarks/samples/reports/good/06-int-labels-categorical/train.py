import yaml
from tensorflow import keras

import data

conf = yaml.safe_load(open("experiment.yaml"))
x, y = data.load()

model = keras.Sequential(
    [
        keras.Input((x.shape[1],)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(len(data.GENRES), activation="softmax"),
    ]
)
model.compile(**conf["compile"])
model.fit(x, y, **conf["fit"])

smooth = keras.models.clone_model(model)
smooth.compile("adam", keras.losses.CategoricalCrossentropy(label_smoothing=0.1))
smooth.fit(x, keras.utils.to_categorical(y, len(data.GENRES)), **conf["fit"])
