"""Keys in sections that a value of the config takes one of: each is judged as where it is taken."""

import textwrap
from pathlib import Path

import pytest

from tests.usage.test_unsure_keys import of_one

CONFIG = """
barn:
  kind: goat
  dry: true
kinds:
  GOAT: {legs: 4, horns: 2, wool: 1}
  DUCK: {legs: 2, horns: 0, wool: 3, pond: 9}
  CROW: {legs: 2, horns: 0, wool: 3, nest: x}
"""
BUILDERS = """
def goat(part):
    legs, horns = part["legs"], part["horns"]
    tf.constant(part["wool"])
    return tf.keras.layers.Dense(legs)

def duck(part):
    legs, wool = part["legs"], part["wool"]
    print("a duck", part)
    if part["horns"]:
        tf.constant(part["pond"])
    return tf.keras.layers.Dense(legs)

def crow(part):
    wool = part["wool"]
    if herd["barn"]["dry"]:
        tf.constant(wool)
    tf.constant(part["horns"])
    return tf.keras.layers.Dense(part["legs"])
"""
WAYS = {
    "names in a chain of conditions": """
        def build(herd):
            if herd["barn"]["kind"] == "goat":
                make = goat
            elif herd["barn"]["kind"] == "duck":
                make = duck
            elif herd["barn"]["kind"] == "crow":
                make = crow
            else:
                raise ValueError(herd["barn"]["kind"])
            return make(herd["kinds"][herd["barn"]["kind"].upper()])

        build(herd)
        """,
    "a table of functions": """
        MAKERS = {"goat": goat, "duck": duck, "crow": crow}
        kind = herd["barn"]["kind"]
        MAKERS[kind](herd["kinds"][kind.upper()])
        """,
    "a section of a fixed name on each way": """
        kind = herd["barn"]["kind"]
        if kind == "goat":
            goat(herd["kinds"]["GOAT"])
        if kind == "duck":
            duck(herd["kinds"]["DUCK"])
        if kind == "crow":
            crow(herd["kinds"]["CROW"])
        """,
}
IDLE = {
    ("unused-value", "kinds.GOAT.horns"),
    ("logged-key", "kinds.DUCK.wool"),
    ("dead-key", "kinds.CROW.nest"),
}


@pytest.mark.parametrize("code", WAYS.values(), ids=WAYS)
def test_sections_of_other_choices_are_judged(tmp_path: Path, code: str) -> None:
    found = set(of_one(tmp_path, BUILDERS + textwrap.dedent(code), CONFIG))
    # What only a bird asks for that the file does not choose is said of the key itself where the code compares the kind beside it.
    assert found - {("unused-here", "barn.dry")} == IDLE


def test_the_value_that_takes_a_section_is_named(tmp_path: Path) -> None:
    from cfgfix.usage.project_code import ProjectCode

    of_one(tmp_path, BUILDERS + textwrap.dedent(WAYS["a table of functions"]), CONFIG)
    says = ProjectCode(str(tmp_path), lambda _path: False, keep=False).all()["herd.yaml"]
    notes = {".".join(map(str, hit.at.key_path or ())): hit.notes for _, hit in says.hits}
    assert notes["kinds.CROW.nest"] == ("looked at with `barn.kind: crow`, by which its section is used",)
    assert notes["kinds.GOAT.horns"] == ()


NEIGHBOURS = {
    "a switch of the config turns it on": """
        def make(part):
            horns = part["horns"]
            for _ in herd["extra"]:
                tf.constant(horns)
            tf.keras.layers.Dense(part["legs"])

        make(herd["kinds"][herd["kind"]])
        """,
    "a section goes to a library as well": """
        import herds

        def make(part):
            horns = part["horns"]
            tf.keras.layers.Dense(part["legs"])

        make(herd["kinds"][herd["kind"]])
        if herd["kind"] == "duck":
            herds.keep(herd["kinds"]["duck"])
        elif herd["kind"] == "goat":
            herds.keep(herd["kinds"]["goat"])
        """,
    "names are asked of what is not known": """
        import herds

        def make(part):
            tf.keras.layers.Dense(part["legs"])

        @herds.each
        def shear(part):
            tf.constant(part["horns"])

        make(herd["kinds"][herd["kind"]])
        tf.constant(herd["extra"])
        """,
}


@pytest.mark.parametrize("code", NEIGHBOURS.values(), ids=NEIGHBOURS)
def test_what_may_count_with_another_choice_is_not_told(tmp_path: Path, code: str) -> None:
    config = "kind: goat\nextra: []\nkinds:\n  goat: {legs: 4, horns: 2}\n  duck: {legs: 2, horns: 0}\n"
    found = of_one(tmp_path, textwrap.dedent(code), config)
    assert [path for _, path in found if path != "extra"] == []
