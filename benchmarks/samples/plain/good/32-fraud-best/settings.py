SETTINGS = {
    "monitor": "val_accuracy",
    "mode": "max",
    "rate": 0.004,
    "epochs": 10,
    "batch_size": 64,
    "seed": 41,
}
