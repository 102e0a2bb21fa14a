"""Put the trained weights where the server looks for them."""
import pathlib
import shutil
import sys

from spores import settings

cfg = settings.load(sys.argv[1])
target = pathlib.Path(cfg["export_dir"])
target.mkdir(parents=True, exist_ok=True)
shutil.copy("spores.weights.h5", target)
