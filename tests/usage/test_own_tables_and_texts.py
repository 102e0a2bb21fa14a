"""Configs whose code has tables, texts and lookups of its own."""

from pathlib import Path

import pytest

from tests.usage.test_unsure_keys import of_one, told

HANDED_ON = {
    "a shape with a number behind it": """
        import numpy as np
        masks = np.load("masks.npy")
        np.random.normal(0, 1, masks.shape[:-1] + (herd["wool"],))
        """,
    "a number in front of a shape": """
        import numpy as np
        seen = np.load("seen.npy")
        seen.reshape([herd["wool"]] + list(seen.shape[1:]))
        """,
    "a lookup that a library calls": """
        import numpy as np
        weights = {int(name): share for name, share in herd["wool"].items()}
        np.vectorize(weights.get)(np.zeros(3))
        """,
    "a lookup that goes over rows": """
        import pandas as pd
        pd.Series([1, 2]).map(herd["wool"].__getitem__)
        """,
}


@pytest.mark.parametrize(("name", "code"), HANDED_ON.items(), ids=HANDED_ON)
def test_what_is_handed_on_in_another_form_counts(tmp_path: Path, name: str, code: str) -> None:
    wool = '{"0": 1.0, "1": 4.0}' if "lookup" in name else "3"
    assert of_one(tmp_path, code, f"wool: {wool}\n") == []


TABLE = """
    class Table(dict):
        def __getattr__(self, name):
            value = self[name.replace("_", "-")]
            return Table(value) if isinstance(value, dict) else value

    barn = Table(herd)
    """


def test_a_table_of_its_own_has_entries_to_choose_from(tmp_path: Path) -> None:
    code = (
        TABLE
        + """
    chosen = barn.barn[barn.barn["kind"]]
    tf.keras.layers.Dense(chosen["legs"])
    """
    )
    config = "barn:\n  kind: sheep-fold\n  sheep-fold: {legs: 4}\n  hen-house: {legs: 2}\n"
    assert of_one(tmp_path, code, config) == []
    fixed = TABLE + 'tf.keras.layers.Dense(barn.barn["sheep-fold"]["legs"])\n'
    assert ("dead-key", "barn.hen-house") in of_one(tmp_path, fixed, config)


OWN_NUMBERS = {
    "a compiled pattern": 'VAR.sub(lambda found: os.environ.get(found[1], ""), value)',
    "a pattern that is written out": 're.sub(r"<(\\w+)>", lambda found: os.environ[found[1]], value)',
    "a text put in": 'VAR.sub("here", value)',
}


@pytest.mark.parametrize("replaced", OWN_NUMBERS.values(), ids=OWN_NUMBERS)
def test_a_text_that_the_program_makes_a_number_after_a_replacement_is_one(
    tmp_path: Path, replaced: str
) -> None:
    from cfgfix.usage.project_code import ProjectCode

    code = f"""
import os
import re
import tensorflow as tf
import yaml

VAR = re.compile(r"<(\\w+)>")

def filled(value):
    if isinstance(value, dict):
        return {{name: filled(item) for name, item in value.items()}}
    if not isinstance(value, str):
        return value
    value = {replaced}
    if value == "None":
        return None
    return float(value) if re.fullmatch(r"[0-9]+e-[0-9]+", value) else value

herd = filled(yaml.safe_load(open("herd.yaml")))
tf.keras.optimizers.Adam(herd["rate"], clipnorm=herd["clip"])
"""
    found = told(tmp_path, {"train.py": code, "herd.yaml": "rate: 1e-2\nclip: None\n"})
    assert found["herd.yaml"] == []
    says = ProjectCode(str(tmp_path), lambda _path: False, keep=False).all()["herd.yaml"]
    assert "rate" in says.converted
    assert ("clip", "None") in says.known_words
