"""Default hyperparameters."""
import ml_collections


def get_config():
    config = ml_collections.ConfigDict()
    config.seed = 0
    config.image_size = 12
    config.batch_size = 8
    config.num_epochs = 2

    config.model = ml_collections.ConfigDict()
    config.model.features = (8, 16)
    config.model.num_classes = 10
    config.model.activation = "swish"

    config.optim = ml_collections.ConfigDict()
    config.optim.learning_rate = 0.01
    config.optim.schedule = "cosine"
    config.optim.warmup_epochs = 1
    config.optim.momentum = 0.95
    return config
