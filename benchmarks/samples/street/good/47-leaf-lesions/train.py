import keras
from keras import layers

from dice import dice_coef, dice_loss
from leaves import SIDE, leaves


def unet_small():
    inputs = keras.Input((SIDE, SIDE, 3))
    c1 = layers.Conv2D(16, 3, padding="same", activation="relu")(inputs)
    p1 = layers.MaxPooling2D()(c1)
    c2 = layers.Conv2D(32, 3, padding="same", activation="relu")(p1)
    u1 = layers.UpSampling2D()(c2)
    x = layers.Concatenate()([c1, u1])
    x = layers.Conv2D(16, 3, padding="same", activation="relu")(x)
    return keras.Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(x))


def main():
    keras.utils.set_random_seed(47)
    x, y = leaves(400, 1)
    x_val, y_val = leaves(80, 2)
    model = unet_small()
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss=dice_loss,
        metrics=[dice_coef],
    )
    model.fit(x, y, validation_data=(x_val, y_val), epochs=4, batch_size=16, verbose=2)


if __name__ == "__main__":
    main()
