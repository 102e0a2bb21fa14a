class Config:
    """Full size denoiser."""

    SIDE = 32
    IMAGES = 160
    BATCH_SIZE = 16
    STEPS = IMAGES // BATCH_SIZE
    EPOCHS = 3
    FLARE = 0.6
    NOISE = 0.05
    FILTERS = (16, 32)
    LOSS = "l1"
    LEARNING_RATE = 2e-3
    SAVE_TO = "/tmp/lens-flare/denoiser"


class SmallConfig(Config):
    """For a laptop."""

    SIDE = 16
    IMAGES = 48
    BATCHSIZE = 8
    EPOCHS = 2
    FILTERS = (8,)
