import ml_collections


def get_config():
    config = ml_collections.ConfigDict()
    config.seed = 9

    config.data = data = ml_collections.ConfigDict()
    data.channels = 10
    data.frames = 32
    data.gestures = 4
    data.records = 128
    data.batch_size = 16

    config.model = model = ml_collections.ConfigDict()
    model.filters = (16, 32)
    model.kernel = 5
    model.dropout = 0.2

    config.train = train = ml_collections.ConfigDict()
    train.num_steps = 40
    train.eval_every = 100
    train.mixup_alpha = 0.2

    config.optimizer = optimizer = ml_collections.ConfigDict()
    optimizer.learning_rate = 1e-3
    optimizer.momentum = 0.9
    optimizer.clip_norm = 1.0
    return config.lock()
