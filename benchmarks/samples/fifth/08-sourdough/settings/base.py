SEED = 3
LOAVES = 32
READINGS = ["temp", "acid", "rise"]
OPTIMIZER = {"class_name": "Adam", "config": {"learning_rate": 1e-3}}
HIDDEN = {"units": 12, "activation": "relu"}
EPOCHS = 1
CALLBACKS = "callbacks.yaml"
