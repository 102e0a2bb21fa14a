import sys

import tensorflow as tf
from omegaconf import OmegaConf

from net import build
from sound import spectrograms


def load_config(argv):
    files = [a for a in argv if a.endswith(".yaml")]
    dots = [a for a in argv if "=" in a]
    parts = [OmegaConf.load("base.yaml")] + [OmegaConf.load(f) for f in files] + [OmegaConf.from_dotlist(dots)]
    return OmegaConf.merge(*parts)


def main():
    cfg = load_config(sys.argv[1:])
    tf.keras.utils.set_random_seed(3)
    x, y = spectrograms(cfg.audio, cfg.net.out)
    model = build(cfg.net, x.shape[1:])
    model.compile(
        tf.keras.optimizers.Adam(cfg.fit.lr, gradient_accumulation_steps=cfg.fit.accumulate),
        cfg.fit.loss)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).batch(cfg.fit.batch)
    log = model.fit(ds, epochs=cfg.fit.epochs, verbose=0)
    print("frames", x.shape[1], "epochs", len(log.epoch), "loss", log.history["loss"][-1])


if __name__ == "__main__":
    main()
