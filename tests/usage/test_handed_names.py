"""Options, packaged files, validators and groups: what code gives a name to that no config spells."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from cfgfix.usage.project_code import ProjectCode

BY_FLAG = """\
    import tensorflow as tf
    from absl import app
    from flags import FLAGS
    def main(_):
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("sgd", loss=FLAGS.loss)
        if FLAGS["noisy"].value:
            print("noise")
        model.fit([[1.0]], [[2.0]], epochs=FLAGS.rounds)
    app.run(main)
    """


def told(
    folder: Path, files: dict[str, str]
) -> tuple[dict[str, list[tuple[str, str]]], list[tuple[str, int]]]:
    """What the code says of each config, and of its own options."""
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(textwrap.dedent(text), encoding="utf-8")
    code = ProjectCode(str(folder), lambda _path: False, keep=False)
    configs = {
        path: [(check, ".".join(map(str, hit.at.key_path or ()))) for check, hit in says.hits]
        for path, says in code.all().items()
    }
    assert not code.failures
    return configs, [
        (check, (folder / path).read_text()[: hit.at.start].count("\n") + 1)
        for path, check, hit in code.options()
    ]


def test_a_default_of_a_flag_is_held_against_the_call_that_it_reaches(tmp_path):
    flags = """\
        from absl import flags
        flags.DEFINE_float("rounds", 2.0, "Rounds.")
        flags.DEFINE_string("loss", "mean_sqared_error", "Loss.")
        flags.DEFINE_bool("noisy", True, "Noise.")
        flags.DEFINE_float("clip", 1.0, "Nothing reads it.")
        FLAGS = flags.FLAGS
        """
    _, options = told(tmp_path, {"train.py": BY_FLAG, "flags.py": flags})
    assert sorted(options) == [("dead-option", 5), ("refused-option", 2), ("refused-option", 3)]


def test_right_defaults_are_left_alone(tmp_path):
    flags = """\
        from absl import flags
        flags.DEFINE_integer("rounds", 2, "Rounds.")
        flags.DEFINE_string("loss", "mse", "Loss.")
        flags.DEFINE_bool("noisy", True, "Noise.")
        FLAGS = flags.FLAGS
        """
    assert told(tmp_path, {"train.py": BY_FLAG, "flags.py": flags}) == ({}, [])


def test_an_option_that_is_there_twice_is_no_text(tmp_path):
    code = """\
        import argparse
        import tensorflow as tf
        parser = argparse.ArgumentParser()
        parser.add_argument("--mist", action=argparse.BooleanOptionalAction, default=False)
        args = parser.parse_args()
        if args.mist:
            tf.keras.layers.Dense(4)
        """
    assert told(tmp_path, {"train.py": code}) == ({}, [])


@pytest.mark.parametrize("table", ["globals()", '{"train": train, "score": score}'])
def test_a_file_of_a_package_is_opened_and_a_function_is_called_by_its_name(tmp_path, table):
    files = {
        "wall/__init__.py": "",
        "wall/settings.py": """\
            from importlib import resources
            import yaml
            def load():
                return yaml.safe_load(resources.files(__package__).joinpath("main.yaml").read_text())
            """,
        "wall/__main__.py": """\
            import argparse
            import tensorflow as tf
            from wall import settings
            def train(cfg):
                tf.keras.layers.Dense(cfg["units"])
            def score(cfg):
                print(1.0 < float(cfg["limit"]))
            parser = argparse.ArgumentParser()
            parser.add_argument("command", choices=["train", "score"])
            {table}[parser.parse_args().command](settings.load())
            """,
        "wall/main.yaml": "units: 4\nlimit: 1e-1\nshade: 3\n",
    }
    files["wall/__main__.py"] = files["wall/__main__.py"].replace("{table}", table)
    configs, options = told(tmp_path, files)
    # A function that `globals()` may name is one of all: what else is called is not known.
    assert configs == {"wall/main.yaml": [] if table == "globals()" else [("dead-key", "shade")]}
    assert options == []


FLIGHT = """\
    import tensorflow as tf
    import yaml
    from pydantic import BaseModel, field_validator
    class Loft(BaseModel):
        rate: float
        birds: int
        @field_validator("rate", mode="{mode}")
        @classmethod
        def percent(cls, value):
            return float(value[:-1]) / 100 if isinstance(value, str) else value
    with open("flight.yaml") as stream:
        loft = Loft.model_validate(yaml.safe_load(stream))
    tf.keras.layers.Dense(loft.birds, name=str(loft.rate))
    """


def test_a_validator_that_comes_first_may_take_any_value(tmp_path):
    config = "rate: 80%\nbirds: many\n"
    first, _ = told(tmp_path / "a", {"train.py": FLIGHT.format(mode="before"), "flight.yaml": config})
    assert first["flight.yaml"] == [("refused-value", "birds")]
    later, _ = told(tmp_path / "b", {"train.py": FLIGHT.format(mode="after"), "flight.yaml": config})
    assert later["flight.yaml"] == [("refused-value", "rate"), ("refused-value", "birds")]


def test_an_option_of_a_group_that_has_no_file_is_told_and_a_key_behind_an_override_stays_dead(tmp_path):
    files = {
        "bake.py": """\
            import hydra
            import tensorflow as tf
            @hydra.main(version_base=None, config_path="conf", config_name="oven")
            def main(cfg):
                tf.keras.layers.Dense(cfg.crust.width, name=str(cfg.steam.level))
                for _ in range(cfg.rack):
                    print(1)
            if __name__ == "__main__":
                main()
            """,
        "all.sh": "python bake.py crust=golden\npython bake.py crust=pale steam.level=2 steam.minutes=3\n",
        "conf/oven.yaml": "defaults:\n  - crust: dark\n  - _self_\nrack: ${crust.layers}\nsteam:\n  level: 1\n  minutes: 12\n",
        "conf/crust/dark.yaml": "width: 4\nlayers: 2\n",
        "conf/crust/pale.yaml": "width: 3\nlayers: 1\n",
    }
    configs, _ = told(tmp_path, files)
    assert [item for found in configs.values() for item in found] == [
        ("unknown-override", ""),
        ("dead-key", "steam.minutes"),
    ]


def test_a_layer_made_from_its_config_takes_what_its_class_takes(tmp_path):
    files = {
        "train.py": """\
            import json
            import tensorflow as tf
            with open("net.json") as stream:
                net = json.load(stream)
            model = tf.keras.Sequential()
            for layer in net["layers"]:
                model.add(getattr(tf.keras.layers, layer["kind"]).from_config(layer["args"]))
            """,
        "net.json": """\
            {"layers": [
              {"kind": "Dense", "args": {"units": 4, "use_bais": true}},
              {"kind": "MaxPooling2D", "args": {"pool_size": 2, "padding": "vald"}},
              {"kind": "Dropout", "args": {"rate": 0.5, "name": "drop", "trainable": true}}
            ]}
            """,
    }
    configs, _ = told(tmp_path, files)
    assert configs == {
        "net.json": [("misspelt-key", "layers.0.args.use_bais"), ("unknown-word", "layers.1.args.padding")]
    }


def test_flags_take_what_a_config_sets_on_them(tmp_path):
    files = {
        "fire.py": """\
            import tensorflow as tf
            import yaml
            from absl import app, flags
            FLAGS = flags.FLAGS
            flags.DEFINE_integer("epochs", 1, "epochs")
            flags.DEFINE_float("rate", 1e-3, "rate")
            flags.DEFINE_float("ash", 0.0, "ash")
            def main(_):
                with open("fire.yaml") as stream:
                    values = yaml.safe_load(stream)
                for name, value in values.items():
                    flag = FLAGS[name]
                    if not flag.present:
                        flag.value = value
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                model.compile(tf.keras.optimizers.Adam(FLAGS.rate), "mse")
                model.fit([[1.0]], [[1.0]], epochs=FLAGS.epochs)
            app.run(main)
            """,
        "fire.yaml": "epochs: 2\nrate: 1e-2\nash: 0.5\n",
    }
    configs, options = told(tmp_path, files)
    assert configs == {"fire.yaml": [("refused-value", "rate"), ("dead-key", "ash")]}
    assert [check for check, _ in options] in ([], ["dead-option"])


def test_an_option_without_a_default_or_under_a_file_is_there_to_be_given(tmp_path):
    code = """\
        import argparse
        import sys
        import tensorflow as tf
        import yaml
        parser = argparse.ArgumentParser()
        parser.add_argument("--units", type=int)
        parser.add_argument("--bend", default="tahn")
        parser.add_argument("--loss", default=None)
        for path in sys.argv[1:]:
            with open(path) as stream:
                parser.set_defaults(**yaml.safe_load(stream))
        args = parser.parse_args()
        model = tf.keras.Sequential([tf.keras.layers.Dense(args.units, activation=args.bend)])
        model.compile("sgd", args.loss)
        """
    assert told(tmp_path, {"train.py": code})[1] == []
