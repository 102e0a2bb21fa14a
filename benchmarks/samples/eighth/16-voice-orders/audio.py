import numpy as np
import tensorflow as tf

EXTRA = ["_silence_", "_unknown_"]


def clips(args, n=48):
    labels = EXTRA + list(args.words)
    length = args.sample_rate * args.clip_ms // 1000
    rng = np.random.default_rng(0)
    t = np.arange(length) / args.sample_rate
    y = np.arange(n) % len(labels)
    x = np.sin(2 * np.pi * 200 * (1 + y[:, None]) * t) * (y[:, None] > 0) + 0.05 * rng.normal(size=(n, length))
    return x.astype("float32"), y


def mfcc(args, waves):
    spec = tf.abs(tf.signal.stft(waves, args.frame_length, args.frame_step))
    mel = tf.signal.linear_to_mel_weight_matrix(args.num_mel_bins, spec.shape[-1], args.sample_rate, 80.0, 3600.0)
    log_mel = tf.math.log(tf.matmul(spec, mel) + 1e-6)
    return tf.signal.mfccs_from_log_mel_spectrograms(log_mel)[..., : args.num_mfcc].numpy()
