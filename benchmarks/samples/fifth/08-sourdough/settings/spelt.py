from .base import *  # noqa: F403

FLOUR = "spelt"
OPTIMIZER = {"class_name": "SGD", "config": {"learning_rate": 0.05, "momentum": 0.8, "nesterov": True}}
