import numpy as np
import tensorflow as tf

from nets import classifier, spectrum_encoder

HEAD_EPOCHS, TUNE_EPOCHS = 4, 12


def spectra(n, classes, seed):
    rng = np.random.default_rng(seed)
    proto = np.random.default_rng(classes).normal(size=(classes, 40))
    y = rng.integers(0, classes, n)
    x = np.tanh(proto[y] * 0.6 + rng.normal(scale=0.9, size=(n, 40)))
    return x.astype("float32"), y


def compile_model(model, rate):
    model.compile(optimizer=tf.keras.optimizers.Adam(rate),
                  loss="sparse_categorical_crossentropy", metrics=["accuracy"])


def main():
    tf.keras.utils.set_random_seed(17)
    source_x, source_y = spectra(800, 4, seed=1)
    target_x, target_y = spectra(800, 9, seed=2)
    valid = spectra(600, 9, seed=3)

    encoder = spectrum_encoder()
    source_model = classifier(encoder, 4)
    compile_model(source_model, 2e-3)
    source_model.fit(source_x, source_y, epochs=4, verbose=0)

    encoder.trainable = False
    model = classifier(encoder, 9)
    compile_model(model, 3e-3)
    model.fit(target_x, target_y, epochs=HEAD_EPOCHS, verbose=0)
    print("head only", model.evaluate(*valid, verbose=0)[1])

    before = [w.copy() for w in encoder.get_weights()]
    encoder.trainable = True
    compile_model(model, 1e-3)
    model.fit(target_x, target_y, epochs=TUNE_EPOCHS, verbose=0)
    moved = max(float(np.abs(a - b).max()) for a, b in zip(before, encoder.get_weights()))
    print("fine-tuned", model.evaluate(*valid, verbose=0)[1], "encoder moved by", moved)


if __name__ == "__main__":
    main()
