"""All knobs of the grain sorter live here."""
import os

SEED = 11

# ---- pictures -------------------------------------------------
IMG_SIZE = 24
CHANNELS = 3
GRAINS = ["whole", "split", "skinned", "mouldy", "foreign"]
N_CLASSES = 4
PICTURES = 160
VAL_PICTURES = 40

# ---- training -------------------------------------------------
BATCH = 16
EPOCHS = 3
LR = 1e-3
MOMENTUM = 0.9
DROP = 0.25
L2 = 1e-4

# stop when the validation loss stays flat
PATIENCE = 1
MIN_DELTA = 1e-3

OUT_DIR = os.environ.get("GRAIN_OUT", "out")
WEIGHTS = os.path.join(OUT_DIR, "grain_{epoch:02d}.h5")
