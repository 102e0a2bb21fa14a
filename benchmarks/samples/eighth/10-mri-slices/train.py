"""Train the model"""
import argparse
import os

import tensorflow as tf

from model.input_fn import input_fn
from model.model_fn import model_fn
from model.utils import Params

parser = argparse.ArgumentParser()
parser.add_argument("--model_dir", default="experiments/base",
                    help="Experiment directory containing params.json")


def main():
    args = parser.parse_args()
    params = Params(os.path.join(args.model_dir, "params.json"))
    tf.keras.utils.set_random_seed(230)

    train_inputs = input_fn(params)
    model = model_fn(params)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(params.learning_rate),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    # one pass over the training set is train_size / batch_size steps
    num_steps = (params.train_size + params.batch_size - 1) // params.batch_size
    history = model.fit(train_inputs, epochs=params.num_epochs, steps_per_epoch=num_steps, verbose=0)
    print("layers %d steps %d loss %.5f" % (
        len(model.layers), int(model.optimizer.iterations), history.history["loss"][-1]))


if __name__ == "__main__":
    main()
