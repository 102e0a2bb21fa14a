import numpy as np
import tensorflow as tf


class Spectrogram:
    """Log-mel pictures of the clips."""

    def __init__(self, ini):
        self.rate = ini.getint("audio", "sample_rate")
        self.frame = ini.getint("stft", "frame")
        self.step = ini["stft"]["step"]
        self.fft = ini.getint("stft", "fft")
        mel = ini["mel"]
        self.matrix = tf.signal.linear_to_mel_weight_matrix(
            mel.getint("bins"), self.fft // 2 + 1, self.rate, mel.getfloat("fmin"), mel.getfloat("fmax"))

    def __call__(self, wave, label):
        spec = tf.abs(tf.signal.stft(wave, self.frame, self.step, self.fft))
        return np.log(tf.matmul(spec, self.matrix) + 1e-6)[..., tf.newaxis], label


def clips(ini):
    audio = ini["audio"]
    rate, n = audio.getint("sample_rate"), audio.getint("clips")
    rng = np.random.default_rng(12)
    bell = rng.integers(0, audio.getint("bells"), n)
    t = np.arange(int(rate * audio.getfloat("seconds"))) / rate
    tone = 330.0 * 2 ** (bell / 12)
    wave = np.sin(2 * np.pi * tone[:, None] * t) * np.exp(-4 * t)
    wave += rng.normal(0, 0.02, wave.shape)
    return wave.astype("float32"), bell.astype("int32")


def louder_or_softer(wave, label):
    return wave * tf.random.uniform([], 0.5, 1.5), label


def pipelines(ini):
    wave, bell = clips(ini)
    batch = ini.getint("train", "batch")
    augment = bool(ini.get("train", "augment"))
    spectrogram = Spectrogram(ini)
    cut = len(bell) * 3 // 4
    clips_ds = tf.data.Dataset.from_tensor_slices((wave, bell)).shuffle(len(bell))
    train, test = clips_ds.take(cut), clips_ds.skip(cut)
    if augment:
        train = train.map(louder_or_softer)
    train = train.map(spectrogram, num_parallel_calls=tf.data.AUTOTUNE).batch(batch)
    return train, test.map(spectrogram).batch(batch)
