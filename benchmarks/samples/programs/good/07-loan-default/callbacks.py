from tensorflow.keras import callbacks as kc

_KINDS = {"early_stopping": kc.EarlyStopping, "plateau": kc.ReduceLROnPlateau}


def from_config(cfg):
    """Every section whose name we know becomes one callback."""
    return [cls(**cfg[name]) for name, cls in _KINDS.items() if name in cfg]
