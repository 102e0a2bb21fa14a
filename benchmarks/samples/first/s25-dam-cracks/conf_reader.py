"""settings()["key"]: conf/$DAM_ENV.yaml before conf/base.yaml."""
import os
from collections import ChainMap
from functools import lru_cache
from pathlib import Path

import yaml

CONF = Path(__file__).parent / "conf"


def _load(name):
    return yaml.safe_load((CONF / f"{name}.yaml").read_text()) or {}


@lru_cache(maxsize=None)
def settings():
    return ChainMap(_load(os.environ.get("DAM_ENV", "prod")), _load("base"))
