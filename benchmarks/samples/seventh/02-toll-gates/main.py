import os

import tensorflow as tf

from toll import cli, forecaster, series


def callbacks(conf, folder):
    training = conf["training"]
    plateau = training["reduce_on_plateau"]
    cbs = [tf.keras.callbacks.ReduceLROnPlateau("val_loss", **plateau)]
    if training["csv_log"]:
        cbs.append(tf.keras.callbacks.CSVLogger(os.path.join(folder, "log.csv")))
    return cbs


def main():
    conf = cli.load()
    folder = os.path.join(conf["out_dir"], conf["output"]["run_name"])
    os.makedirs(folder, exist_ok=True)
    train, val, (mean, std) = series.split(conf)
    model = forecaster.build(conf)
    model.compile(forecaster.optimizer(conf),
                  tf.keras.losses.Huber(delta=conf["training"]["huber_delta"]),
                  metrics=["mae"])
    model.fit(series.windows(train, conf, True),
              validation_data=series.windows(val, conf, False),
              epochs=conf["training"]["epochs"],
              callbacks=callbacks(conf, folder), verbose=2)
    model.save(os.path.join(folder, "final.keras"))
    ahead = model.predict(val[None, -conf["data"]["lookback"]:], verbose=0)[0]
    print("next hours", (ahead * std + mean).round(1)[:, 0])


if __name__ == "__main__":
    main()
