"""All settings of the thesis: LIVER_CFG=unet_small python train.py"""
import os
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
with open(HERE / "configs" / f"{os.environ.get('LIVER_CFG', 'unet_small')}.yaml") as fh:
    CFG = yaml.safe_load(fh)
DATA = CFG["data"]
