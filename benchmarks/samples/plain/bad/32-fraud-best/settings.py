SETTINGS = {
    "monitor": "val_accuracy",
    "mode": "min",
    "rate": 0.004,
    "epochs": 10,
    "batch_size": 64,
    "seed": 41,
}
