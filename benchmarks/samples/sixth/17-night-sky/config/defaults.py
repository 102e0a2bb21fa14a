from yacs.config import CfgNode as CN

_C = CN()
_C.SEED = 0
_C.INPUT = CN()
_C.INPUT.SIZE = (16, 16)
_C.INPUT.STARS = 5
_C.MODEL = CN()
_C.MODEL.WIDTHS = (8,)
_C.MODEL.ACT = "relu"
_C.MODEL.DROPOUT = 0.0
_C.SOLVER = CN()
_C.SOLVER.NAME = "adam"
_C.SOLVER.LR = 0.01
_C.SOLVER.STEPS = [100]
_C.SOLVER.GAMMA = 0.1
_C.SOLVER.MAX_ITER = 4
_C.SOLVER.BATCH = 8


def get_cfg():
    return _C.clone()
