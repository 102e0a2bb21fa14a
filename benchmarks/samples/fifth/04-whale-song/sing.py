import sys

import numpy as np
import yaml
from tensorflow import keras

import parts  # noqa: F401  fills the registries
from registry import AUGMENTS, LOSSES, MODELS, OPTIMIZERS

cfg = yaml.safe_load(open(sys.argv[1]))
keras.utils.set_random_seed(cfg.get("seed", 0))

frames = cfg["audio"]["frames"]
x = np.random.normal(size=(cfg["audio"]["clips"], frames, 1))
y = (x[:, :, 0].std(axis=1) > 1).astype("float32")[:, None]
for step in cfg.get("augment", []):
    x = AUGMENTS.make(step, x)

model = MODELS.make(cfg["model"], frames)
model.compile(OPTIMIZERS.make(cfg["optimizer"]), LOSSES.make(cfg["loss"]))
history = model.fit(x.astype("float32"), y, **cfg["fit"])
print("loss %.5f" % history.history["loss"][-1])
