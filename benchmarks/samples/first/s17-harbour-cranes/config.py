import json
import logging

log = logging.getLogger(__name__)


class Config:
    batch_size = 32
    learning_rate = 0.001
    epochs = 2

    def __init__(self, **values):
        for name, value in values.items():
            if name.startswith("_"):
                continue
            if not hasattr(self, name):
                log.info("passed over: %s", name)
                continue
            setattr(self, name, value)

    @classmethod
    def from_json(cls, path):
        with open(path) as fp:
            return cls(**json.load(fp))


class CraneConfig(Config):
    lookback = 12
    cells = (8,)
    huber = {}
    log_file = None
    plateau = None
