"""A net for the phone."""
from configs import default


def get_config():
    config = default.get_config()
    config.batch_size = 4
    config.model.feature = (4,)
    config.optim.schedule = "constant"
    return config
