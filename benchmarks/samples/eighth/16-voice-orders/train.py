"""Spoken orders, a small keyword spotter."""
import argparse

import tensorflow as tf
import yaml
from tensorflow.keras import layers

from audio import clips, mfcc

parser = argparse.ArgumentParser()
parser.add_argument("--config", default="orders.yaml")
parser.add_argument("--sample_rate", type=int, default=16000)
parser.add_argument("--clip_ms", type=int, default=1000)
parser.add_argument("--frame_length", type=int, default=400)
parser.add_argument("--frame_step", type=int, default=160)
parser.add_argument("--num_mel_bins", type=int, default=40)
parser.add_argument("--num_mfcc", type=int, default=13)
parser.add_argument("--words", nargs="+", default=["yes", "no"])
parser.add_argument("--label_count", type=int, default=4)
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--batch_size", type=int, default=32)
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--checkpoint", default="ckpt/orders.keras")
parser.add_argument("--save_freq", default="epoch")
args = parser.parse_args()
with open(args.config) as f:
    args.__dict__.update(yaml.safe_load(f))

tf.keras.utils.set_random_seed(1)
waves, labels = clips(args)
features = mfcc(args, waves)

model = tf.keras.Sequential([
    tf.keras.Input((features.shape[1], args.num_mfcc)),
    layers.Conv1D(16, 5, activation="relu"),
    layers.GlobalMaxPooling1D(),
    layers.Dense(args.label_count, activation="softmax"),
])
model.compile(tf.keras.optimizers.Adam(args.lr), "sparse_categorical_crossentropy", metrics=["accuracy"])
checkpoint = tf.keras.callbacks.ModelCheckpoint(args.checkpoint, save_freq=args.save_freq)
history = model.fit(features, labels, args.batch_size, args.epochs, callbacks=[checkpoint], verbose=0)
print("frames", features.shape[1], "epochs", len(history.epoch), "loss %.5f" % history.history["loss"][-1])
