import numpy as np
import tensorflow as tf

from options import parse


def calls(args):
    words = np.random.randint(1, args.vocab_size, (args.calls, args.max_words))
    for row, length in zip(words, np.random.randint(4, args.max_words, args.calls)):
        row[length:] = 0
    return words, np.random.randint(0, args.n_intents, args.calls)


def network(args):
    pool = {"mean": tf.keras.layers.GlobalAveragePooling1D, "max": tf.keras.layers.GlobalMaxPooling1D}
    return tf.keras.Sequential([
        tf.keras.Input((args.max_words,), dtype="int32"),
        tf.keras.layers.Embedding(args.vocab_size, args.embed_dim, mask_zero=args.mask_padding),
        pool[args.pooling](),
        tf.keras.layers.Dropout(args.dropout),
        tf.keras.layers.Dense(args.num_intents, activation="softmax"),
    ])


def main():
    args = parse()
    tf.keras.utils.set_random_seed(12)
    words, intents = calls(args)
    model = network(args)
    model.compile(
        tf.keras.optimizers.Adam(args.learning_rate),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(),
        metrics=["accuracy"],
    )
    log = model.fit(words, intents, batch_size=args.batch_size, epochs=args.epochs, verbose=0)
    print({name: round(values[-1], 4) for name, values in log.history.items()})
    if args.save:
        model.save(args.save)


if __name__ == "__main__":
    main()
