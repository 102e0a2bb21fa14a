"""Files that several programs may be started with, and classes that a program finds by what they derive from."""

from pathlib import Path

from test_followed_idioms import told

HEAD = "import sys\nimport tensorflow as tf\nimport yaml\n"
TRAIN = """
class Part:
    def __init__(self, cfg):
        self.rate = cfg["train"]["rate"]
        self.layer = tf.keras.layers.Dense(cfg["wheel"]["spokes"])
        self.extra(cfg["train"])
    def extra(self, own):
        raise NotImplementedError
class WaterPart(Part):
    def extra(self, own):
        tf.keras.layers.Dense(own["flow"])
class WindPart(Part):
    def extra(self, own):
        tf.keras.layers.Dense(own["blades"])
PARTS = {cls.__name__.removesuffix("Part").lower(): cls for cls in Part.__subclasses__()}
cfg = yaml.safe_load(open(sys.argv[1]))
tf.keras.optimizers.Adam(PARTS[cfg["kind"]](cfg).rate)
"""
SHOW = """
cfg = yaml.safe_load(open(sys.argv[1]))
model = tf.keras.models.load_model(cfg["path"])
model.predict(cfg["wheel"]["spokes"] * cfg.get("times", 2))
"""
WATER = "kind: water\nwheel: {spokes: 3}\ntrain: {rate: 0.1, flow: 2}\npath: a.keras\n"
WIND = "kind: wind\nwheel: {spokes: 3}\ntrain: {rate: 0.1, blades: 2}\npath: b.keras\n"


def test_a_program_that_reads_more_and_lacks_one(tmp_path: Path) -> None:
    files = {
        "train.py": HEAD + TRAIN,
        "show.py": HEAD + SHOW,
        "water.yaml": WATER,
        "wind.yaml": WIND.replace("rate: 0.1, ", ""),
    }
    assert told(tmp_path, files) == {"water.yaml": [], "wind.yaml": [("missing-key", "train.rate")]}


def test_programs_that_lack_nothing(tmp_path: Path) -> None:
    files = {"train.py": HEAD + TRAIN, "show.py": HEAD + SHOW, "water.yaml": WATER, "wind.yaml": WIND}
    assert told(tmp_path, files) == {"water.yaml": [], "wind.yaml": []}
