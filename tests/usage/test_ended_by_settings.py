"""Runs that the program's own tests, Python or NumPy end for what a config says, and neighbours that go on."""

from pathlib import Path

import pytest

from tests.usage.test_unsure_keys import of_one, told

TOGETHER = {
    "an assertion over two numbers": (
        "assert herd['legs'] % herd['feet'] == 0, 'as many feet as legs'\n",
        "legs: {}\nfeet: 4\n",
        ("6", "8"),
    ),
    "parts that do not add up": (
        "if abs(sum(herd['parts'].values()) - 1) > 1e-6:\n    raise ValueError('no whole')\n",
        "parts: {{goats: 0.5, ducks: {}, hens: 0.2}}\n",
        ("0.4", "0.3"),
    ),
    "lists of two lengths": (
        "if len(herd['names']) != len(herd['legs']):\n    sys.exit('a number of legs for each name')\n",
        "names: [goat, duck]\nlegs: {}\n",
        ("[4, 2, 2]", "[4, 2]"),
    ),
    "a constructor far below": (
        """
        class Fold(tf.keras.layers.Layer):
            def __init__(self, wide, pens):
                super().__init__()
                if wide % pens:
                    raise ValueError(f"{wide} cannot be shared by {pens}")
                self.parts = [tf.keras.layers.Dense(wide // pens) for _ in range(pens)]

        folds = [Fold(herd["wide"], herd["pens"]) for _ in range(3)]
        """,
        "wide: {}\npens: 4\n",
        ("30", "32"),
    ),
}


@pytest.mark.parametrize(("code", "config", "values"), TOGETHER.values(), ids=TOGETHER)
def test_values_that_end_a_run_together(
    tmp_path: Path, code: str, config: str, values: tuple[str, str]
) -> None:
    wrong, right = values
    found = of_one(tmp_path, code, config.format(wrong))
    assert [check for check, _ in found] == ["refused-choice"]
    assert of_one(tmp_path, code, config.format(right)) == []


def test_what_the_run_may_change_is_not_told(tmp_path: Path) -> None:
    code = """
    import os
    pens = int(os.environ["PENS"]) if "PENS" in os.environ else herd["pens"]
    try:
        assert herd["legs"] % herd["pens"] == 0
    except AssertionError:
        pens = 1
    assert herd["legs"] % pens == 0
    """
    assert of_one(tmp_path, code, "legs: 6\npens: 4\n") == []


def test_the_file_that_is_laid_over_another_is_told(tmp_path: Path) -> None:
    code = """
    from omegaconf import OmegaConf
    import tensorflow as tf
    herd = OmegaConf.merge(OmegaConf.load("base.yaml"), OmegaConf.load("goats.yaml"))
    assert herd.legs % herd.pens == 0
    tf.keras.layers.Dense(herd.legs)
    """
    found = told(tmp_path, {"train.py": code, "base.yaml": "legs: 8\npens: 4\n", "goats.yaml": "legs: 6\n"})
    assert found == {"base.yaml": [], "goats.yaml": [("refused-choice", "legs")]}


PYTHON = {
    "the length of a number": ("tf.keras.layers.Dense(len(herd['alphabet']))\n", "12345", "'12345'"),
    "the length of a share": ("print(range(len(herd['alphabet'])))\n", "0.5", "[0.5]"),
    "a quantile": (
        "import numpy as np\nprint(np.quantile(np.load('a.npy'), herd['alphabet']))\n",
        "95",
        "0.95",
    ),
    "a percentile by name": (
        "import numpy as np\nprint(np.nanpercentile(np.load('a.npy'), q=herd['alphabet']))\n",
        "101",
        "95",
    ),
    "a share of the samples": (
        """
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit([[1.0]], [[1.0]], validation_split=herd["alphabet"])
        """,
        "20",
        "0.2",
    ),
    "a rate that is set": (
        "optimizer = tf.keras.optimizers.get('sgd')\noptimizer.learning_rate = herd['alphabet']\n",
        "'0.01'",
        "0.01",
    ),
    "an optimizer in small letters": (
        "tf.keras.optimizers.get(dict(class_name='rmsprop', config=herd['alphabet']))\n",
        "{learning_rat: 0.1}",
        "{learning_rate: 0.1}",
    ),
    "an optimizer described in the file": (
        "tf.keras.optimizers.deserialize(herd['alphabet'])\n",
        "{class_name: adagrad, config: {initial_value: 0.1}}",
        "{class_name: adagrad, config: {initial_accumulator_value: 0.1}}",
    ),
}


@pytest.mark.parametrize(("code", "wrong", "right"), PYTHON.values(), ids=PYTHON)
def test_what_a_call_cannot_take(tmp_path: Path, code: str, wrong: str, right: str) -> None:
    found = of_one(tmp_path, code, f"alphabet: {wrong}\n")
    assert len(found) == 1
    assert found[0][0] in ("refused-value", "contradicting-arguments", "misspelt-key", "refused-key")
    assert of_one(tmp_path, code, f"alphabet: {right}\n") == []


def test_settings_in_the_code_end_a_run(tmp_path: Path) -> None:
    from cfgfix.usage.project_code import ProjectCode

    (tmp_path / "settings.py").write_text("LAYERS = 3\nWIDE = 50\nPENS = 8\nNAMES = 12\nRATE = 0.1\n")
    (tmp_path / "train.py").write_text(
        "import settings as S\nimport tensorflow as tf\n\n"
        "assert S.WIDE % S.PENS == 0\n"
        "for units in S.LAYERS:\n    tf.keras.layers.Dense(units)\n"
        "tf.keras.layers.Dense(len(S.NAMES))\ntf.keras.optimizers.SGD(S.RATE)\n"
    )
    code = ProjectCode(str(tmp_path), lambda _path: False, keep=False)
    told = {(check, hit.values["name"], hit.values["value"]) for _, check, hit in code.options()}
    assert told == {
        ("refused-setting", "PENS", "8"),
        ("refused-setting", "LAYERS", "3"),
        ("refused-setting", "NAMES", "12"),
    }


def test_a_dead_field_names_where_it_is_set(tmp_path: Path) -> None:
    from cfgfix.usage.project_code import ProjectCode

    (tmp_path / "presets.py").write_text(
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Fold:\n    pens: int = 4\n    wide: int = 8\n"
        "    motto: str = 'a'\n\n\nsmall = Fold(\n    pens=2,\n    motto='b',\n)\n"
    )
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nfrom presets import small\n\n"
        "tf.keras.layers.Dense(small.pens)\ntf.keras.layers.Dense(small.wide)\n"
    )
    code = ProjectCode(str(tmp_path), lambda _path: False, keep=False)
    ((check, hit),) = [(check, hit) for _, check, hit in code.options()]
    assert (check, hit.values["name"]) == ("dead-setting", "motto")
    assert [(item.line, item.label) for item in hit.related] == [(13, "is set here")]
