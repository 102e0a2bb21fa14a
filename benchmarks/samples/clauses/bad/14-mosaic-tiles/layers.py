from tensorflow import keras


def augmenter(strength):
    chain = keras.Sequential(name="augmenter")
    chain.add(keras.layers.RandomTranslation(strength, strength))
    chain.add(keras.layers.RandomContrast(strength))
    return chain
