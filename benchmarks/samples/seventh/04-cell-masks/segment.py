import os

import hydra
import keras
from hydra.core.hydra_config import HydraConfig

from masks import losses, synthetic, unet


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg):
    keras.utils.set_random_seed(cfg.seed)
    train, val = synthetic.datasets(cfg.data, cfg.seed)
    model = unet.build(cfg.model)
    loss = hydra.utils.instantiate(cfg.loss)
    model.compile(keras.optimizers.Adam(cfg.trainer.lr), loss, metrics=[losses.dice_coef])

    best = os.path.join(HydraConfig.get().runtime.output_dir, cfg.trainer.best_weights)
    keep = keras.callbacks.ModelCheckpoint(best, monitor=cfg.trainer.monitor, mode=cfg.trainer.mode,
                                           save_best_only=True, save_weights_only=True)
    model.fit(train, validation_data=val, epochs=cfg.trainer.epochs, callbacks=[keep], verbose=2)
    model.load_weights(best)
    print("best", model.evaluate(val, verbose=0))


if __name__ == "__main__":
    main()
