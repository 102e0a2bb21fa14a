from .node import Node

_C = Node({"SEED": 1, "OUT": "/tmp/lichen.keras"})
_C.STONE = Node()
_C.STONE.KINDS = ["granite", "slate"]
_C.STONE.SIDE = 12
_C.STONE.COUNT = 16
_C.MODEL = Node({"NAME": "plain", "PLAIN": {"UNITS": 8}, "CONV": {"FILTERS": 4, "KERNEL": 3}})
_C.SOLVER = Node({"LR": 1e-3, "EPOCHS": 1, "BATCH": 8, "CLIP": None})


def get_defaults():
    return _C.clone()
