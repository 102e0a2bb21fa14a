from configs import default


def get_config():
    config = default.get_config()
    config.train.num_steps = 1e2
    config.train.eval_every = 20
    config.optimizer.schedule = "cosine"
    return config
