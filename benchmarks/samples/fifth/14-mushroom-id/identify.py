import hydra
import numpy as np
from hydra.utils import instantiate
from omegaconf import DictConfig
from tensorflow import keras


def build(cfg: DictConfig, bands: int, species: int) -> keras.Model:
    model = keras.Sequential([keras.Input((bands,))])
    for width in cfg.widths:
        model.add(keras.layers.Dense(width, activation=cfg.activation))
        model.add(keras.layers.Dropout(cfg.dropout))
    model.add(keras.layers.Dense(species))
    return model


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig) -> float:
    keras.utils.set_random_seed(cfg.seed)
    data = cfg.data
    x = np.random.rand(data.specimens, data.bands).astype("float32")
    y = np.random.randint(0, data.species, data.specimens)

    model = build(cfg.model, data.bands, data.species)
    make = instantiate(cfg.optim)
    model.compile(make(learning_rate=cfg.rate),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    callbacks = [instantiate(c) for c in cfg.get("callbacks", {}).values()]
    log = model.fit(x, y, epochs=cfg.epochs, callbacks=callbacks, verbose=0)
    print("loss", round(log.history["loss"][-1], 4))
    return log.history["loss"][-1]


if __name__ == "__main__":
    main()
