"""Experiments of Sacred: what their functions take out of a config that comes from files and functions."""

from pathlib import Path

from test_followed_idioms import told

HEAD = "import tensorflow as tf\nfrom sacred import Experiment, Ingredient\nex = Experiment('cellar')\n"


def test_captured_functions_read_the_config_of_files_and_functions(tmp_path: Path) -> None:
    text = """
    ex.add_config("cellar.yaml")

    @ex.config
    def beside(barrel):
        litres = barrel["staves"] * 3
        notes = "oak"

    class Press:
        @ex.capture(prefix="barrel")
        def squeeze(self, staves, hoop=2):
            return tf.keras.layers.Dense(staves, name=f"hoop{hoop}")

    @ex.capture
    def ferment(litres, yeast, temperature):
        Press().squeeze()
        return tf.keras.optimizers.Adam(yeast), litres, temperature

    @ex.automain
    def main(_run, _config, notes):
        print(ferment(temperature=12), notes)
    """
    config = "seed: 3\nbarrel: {staves: 12, hoops: 4}\nyaest: 0.1\ncork: true\n"
    found = told(tmp_path, {"press.py": HEAD + text.replace("\n    ", "\n"), "cellar.yaml": config})
    assert sorted(found["cellar.yaml"]) == [
        ("dead-key", "cork"),
        ("misspelt-key", "barrel.hoops"),
        ("misspelt-key", "yaest"),
    ]


def test_an_ingredient_has_its_section_and_the_command_its_values(tmp_path: Path) -> None:
    text = """
vines = Ingredient("vines")
ex = Experiment("cellar", ingredients=[vines])
ex.add_config({"rows": 3})
ex.add_config("cellar.json")

@vines.capture
def plant(rows, sort, age=3):
    return tf.keras.layers.Dense(rows * age, name=sort)

@ex.main
def main(rate, vines):
    plant()
    tf.keras.optimizers.Adam(rate)

if __name__ == "__main__":
    ex.run_commandline()
"""
    files = {
        "press.py": HEAD + text,
        "cellar.json": '{"vines": {"rows": 12, "agee": 4}}',
        "run.sh": "python press.py with rate=0.1\n",
    }
    found = told(tmp_path, files)
    assert sorted(found["cellar.json"]) == [("missing-key", "vines.sort"), ("misspelt-key", "vines.agee")]


def test_a_module_that_is_imported_runs_nothing(tmp_path: Path) -> None:
    text = """
@ex.automain
def main(rate):
    tf.keras.optimizers.Adam(rate)
"""
    files = {
        "press.py": HEAD + text,
        "look.py": "import yaml, press\nwith open('cellar.yaml') as f:\n    press.tf.keras.layers.Dense(yaml.safe_load(f)['grapes'])\n",
        "cellar.yaml": "grapes: 3\n",
    }
    assert told(tmp_path, files).get("cellar.yaml", []) == []
