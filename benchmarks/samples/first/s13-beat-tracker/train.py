import hydra
from hydra.utils import call, instantiate
from omegaconf import DictConfig
from tensorflow import keras


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg: DictConfig):
    keras.utils.set_random_seed(cfg.seed)
    x, y = call(cfg.data, seed=cfg.seed)
    net = instantiate(cfg.net)
    net.compile(instantiate(cfg.optimizer), "binary_crossentropy")
    callbacks = [instantiate(node) for node in cfg.callbacks.values()]
    log = net.fit(x, y, epochs=cfg.trainer.epochs, batch_size=cfg.trainer.batch_size,
                  callbacks=callbacks, verbose=0)
    print("loss", round(log.history["loss"][-1], 4))


if __name__ == "__main__":
    main()
