from series import cut_windows


def train_and_test(series, lookback, horizon, test_share=0.2):
    """Scaled windows for training and for the final score."""
    cut = int(len(series) * (1.0 - test_share))
    mean, std = series[:cut].mean(), series[:cut].std()
    scaled = ((series - mean) / std).astype("float32")
    train = cut_windows(scaled[:cut], lookback, horizon)
    test = cut_windows(scaled[cut:], lookback, horizon)
    return train, test, std
