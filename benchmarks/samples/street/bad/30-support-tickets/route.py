import tensorflow as tf

from text_prep import LENGTH, MAX_TOKENS, prepare
from tickets import QUEUES, tickets


def build():
    return tf.keras.Sequential(
        [
            tf.keras.Input((LENGTH,), dtype="int64"),
            tf.keras.layers.Embedding(MAX_TOKENS, 16),
            tf.keras.layers.GlobalAveragePooling1D(),
            tf.keras.layers.Dense(24, activation="relu"),
            tf.keras.layers.Dense(len(QUEUES), activation="softmax"),
        ]
    )


def main():
    tf.keras.utils.set_random_seed(30)
    train_texts, train_queue = tickets(2000, 1)
    test_texts, test_queue = tickets(300, 2, mix=(1, 3, 2))

    x_train = prepare(train_texts)
    x_test = prepare(test_texts)

    model = build()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x_train, train_queue, epochs=8, batch_size=32, verbose=2)
    _, accuracy = model.evaluate(x_test, test_queue, verbose=0)
    print(f"accuracy on last week's tickets: {accuracy:.3f}")


if __name__ == "__main__":
    main()
