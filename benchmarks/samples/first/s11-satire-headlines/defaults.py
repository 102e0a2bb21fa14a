"""What a run looks like if nobody says anything."""
DEFAULTS = {
    "vectorizer": {"max_tokens": 500, "output_mode": "int", "output_sequence_length": 12},
    "model": {"embed": 16, "dropout": 0.1, "pool": "max"},
    "train": {"epochs": 2, "batch_size": 8, "optimizer": "adam"},
}


def merge(base, extra):
    result = dict(base)
    for key, value in extra.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merge(result[key], value)
        else:
            result[key] = value
    return result
