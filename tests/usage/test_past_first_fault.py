"""What a run would meet once the first fault of a config is repaired is told with it."""

from pathlib import Path

import pytest
from test_followed_idioms import HEAD, told

LOAD = HEAD + "kiln = yaml.safe_load(open('kiln.yaml'))\n"
BODY = """
tf.keras.layers.Dense(kiln["glaze"]["coats"])
tf.keras.layers.Dropout(kiln["glaze"]["share"])
tf.keras.optimizers.Adam(kiln["heat"])
"""
CHECKS = {
    "a loop over the names that it needs": """
for word in ("glaze", "heat", "door"):
    if word not in kiln:
        raise KeyError(word)
""",
    "a list of those that are not there": """
gone = [word for word in ("glaze", "door", "heat") if word not in kiln]
if gone:
    raise SystemExit(f"lacking: {gone}")
""",
    "a difference of sets": """
import sys
left = {"door", "glaze"} - kiln.keys()
if left:
    sys.exit("lacking " + ", ".join(left))
""",
    "a difference by its method": """
left = set(["door", "glaze"]).difference(kiln)
if len(left) > 0:
    raise ValueError(left)
""",
    "a subset": """
assert {"door", "glaze"} <= set(kiln), "lacking"
""",
    "all of them at once": """
def complete(config, words):
    return all(word in config for word in words)

if not complete(kiln, ["door", "glaze", "heat"]):
    raise ValueError("incomplete")
""",
}


@pytest.mark.parametrize("check", CHECKS.values(), ids=list(CHECKS))
def test_a_check_of_the_names_ends_the_run_and_what_follows_is_judged(tmp_path: Path, check: str) -> None:
    found = told(
        tmp_path,
        {
            "fire.py": LOAD + check + BODY,
            "kiln.yaml": "glaze:\n  coats: 3\n  shre: 0.5\nheat: 0.1\ncone: 6\n",
        },
    )
    assert sorted(found["kiln.yaml"]) == [
        ("dead-key", "cone"),
        ("missing-key", "door"),
        ("misspelt-key", "glaze.shre"),
    ]


def test_one_of_several_names_is_not_asked_for(tmp_path: Path) -> None:
    check = """
if "door" not in kiln and "lid" not in kiln:
    raise ValueError("how does it close?")
if not any(word in kiln for word in ("door", "lid")):
    raise ValueError("how does it close?")
"""
    found = told(
        tmp_path,
        {"fire.py": LOAD + check + BODY, "kiln.yaml": "glaze:\n  coats: 3\n  share: 0.5\nheat: 0.1\n"},
    )
    assert found["kiln.yaml"] == []


def test_a_value_that_ends_the_run_is_not_the_last_one_told(tmp_path: Path) -> None:
    text = """
def shape(name):
    if name == "round":
        return 3
    raise ValueError(name)

tf.keras.layers.Dense(shape(kiln["shape"]))
"""
    found = told(
        tmp_path,
        {
            "fire.py": LOAD + text + BODY,
            "kiln.yaml": "shape: oval\nglaze:\n  coats: 3\n  shre: 0.5\nheat: 0.1\n",
        },
    )
    assert sorted(found["kiln.yaml"]) == [("misspelt-key", "glaze.shre"), ("refused-choice", "shape")]


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        pytest.param(
            "glzae:\n  coats: 3\n  shre: 0.5\n  drip: 1\nheat: 0.1\n",
            [("dead-key", "glzae.drip"), ("misspelt-key", "glzae"), ("misspelt-key", "glzae.shre")],
            id="a section that is misspelt",
        ),
        pytest.param(
            "oven:\n  glaze:\n    coats: '3'\n    share: 0.5\n  wood: 1\nheat: 0.1\n",
            [
                ("dead-key", "oven.wood"),
                ("misplaced-key", "oven.glaze"),
                ("refused-value", "oven.glaze.coats"),
            ],
            id="a section at another place",
        ),
    ],
)
def test_what_lies_in_a_section_that_is_not_found_is_judged(
    tmp_path: Path, config: str, wanted: list[tuple[str, str]]
) -> None:
    text = 'tf.keras.layers.Dense(10 // kiln["glaze"]["coats"])\ntf.keras.layers.Dropout(kiln["glaze"]["share"])\n'
    found = told(
        tmp_path, {"fire.py": LOAD + text + 'tf.keras.optimizers.Adam(kiln["heat"])', "kiln.yaml": config}
    )
    assert sorted(found["kiln.yaml"]) == wanted


def test_an_interpolation_names_a_key_that_is_misspelt(tmp_path: Path) -> None:
    text = "from omegaconf import OmegaConf\nimport tensorflow as tf\nkiln = OmegaConf.load('kiln.yaml')\n"
    text += "tf.keras.layers.Dense(kiln.glaze.coats)\n"
    config = "glaze: {coats: '${jar.layers}'}\njar: {lyaers: 3}\n"
    assert told(tmp_path, {"fire.py": text, "kiln.yaml": config})["kiln.yaml"] == [
        ("misspelt-key", "jar.lyaers")
    ]


def test_what_the_other_choices_read_is_not_dead(tmp_path: Path) -> None:
    text = """
match kiln["fuel"]:
    case "gas":
        tf.keras.layers.Dense(kiln["burners"])
    case "wood":
        tf.keras.layers.Dense(kiln["logs"])
    case other:
        raise ValueError(other)
"""
    found = told(
        tmp_path,
        {
            "fire.py": LOAD + text + BODY,
            "kiln.yaml": "fuel: peat\nburners: 3\nlogs: 4\nglaze:\n  coats: 3\n  share: 0.5\nheat: 0.1\n",
        },
    )
    assert found["kiln.yaml"] == [("refused-choice", "fuel")]


def test_behind_a_word_with_a_near_one_the_class_that_is_meant_is_judged(tmp_path: Path) -> None:
    code = """
class Oven:
    def __init__(self, racks, heat=3):
        tf.keras.layers.Dense(racks * heat)

OVENS = {"gas_oven": Oven}
name = kiln["oven"]["kind"]
if name not in OVENS:
    raise KeyError(name)
OVENS[name](**kiln["oven"]["with"])
"""
    files = {"fire.py": LOAD + code, "kiln.yaml": "oven:\n  kind: GasOven\n  with: {rack: 3, heat: 2}\n"}
    assert told(tmp_path, files)["kiln.yaml"] == [
        ("refused-choice", "oven.kind"),
        ("misspelt-key", "oven.with.rack"),
    ]
