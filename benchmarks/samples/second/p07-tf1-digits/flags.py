"""What tf.app.flags was: from flags import FLAGS"""
import json
import os
from collections import namedtuple

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "flags.json")) as _f:
    _raw = json.load(_f)

FLAGS = namedtuple("FLAGS", _raw.keys())(**_raw)
