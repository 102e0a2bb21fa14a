"""The table of TensorFlow's API and the requirement that chooses its rows."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from cfgfix.code.tensorflow.api import load
from cfgfix.code.tensorflow.requirement import AUTO, NOTHING, Requirement, asked_release
from cfgfix.code.tensorflow.requirements import find_requirement
from cfgfix.core.errors import CfgfixError
from cfgfix.lint.runner import Request, check
from cfgfix.settings.reader import Settings


def wanting(text: str) -> Requirement:
    return Requirement("requirements.txt", text, ())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tensorflow==2.15.0", ["2.15"]),
        ("tensorflow>=2.16", ["2.16", "2.18", "2.21"]),
        ("tensorflow>=2.8,<2.13", ["2.8", "2.12"]),
        ("tensorflow~=2.15.0", ["2.15"]),
        ("tensorflow~=2.15", ["2.15", "2.16", "2.18", "2.21"]),
        ("tensorflow==2.13.1", ["2.12", "2.15"]),
        ("tensorflow==2.12.*", ["2.12"]),
        ("tensorflow<2", []),
        ("tensorflow==1.15.0", []),
        ("tensorflow==2.99", ["2.21"]),
        ("tensorflow==2.4.1", ["2.4"]),
        ("tensorflow==2.3.4", []),
    ],
)
def test_which_releases_a_requirement_admits(line: str, expected: list[str]) -> None:
    table = load(wanting(line))
    assert [
        version for number, version in enumerate(table.versions) if table.admitted >> number & 1
    ] == expected


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        (
            "requirements.txt",
            "numpy\n# tensorflow==1.0\ntensorflow[and-cuda] >= 2.10, < 2.16  # why\n",
            "tensorflow>=2.10,<2.16",
        ),
        # What `tensorflow-gpu` installs ends with 2.11; beside `tensorflow` itself it says nothing.
        ("requirements.txt", "tensorflow-gpu>=2.3\n", "tensorflow>=2.3,<2.12"),
        ("requirements.txt", "tensorflow-gpu\n", "tensorflow<2.12"),
        ("requirements.txt", "tensorflow-gpu>=2.3\ntensorflow>=2.3\n", "tensorflow>=2.3"),
        ("setup.py", "setup(install_requires=['numpy', 'tensorflow-gpu'])\n", "tensorflow<2.12"),
        ("pyproject.toml", '[project]\ndependencies = ["tensorflow>=2.12", "numpy"]\n', "tensorflow>=2.12"),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntensorflow = "==2.14.0"\n', "tensorflow==2.14.0"),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntensorflow = "2.12.1"\n', "tensorflow==2.12.1"),
        (
            "pyproject.toml",
            '[tool.poetry.dependencies]\ntensorflow = { version = "=2.12.1", markers = "sys_platform" }\n',
            "tensorflow==2.12.1",
        ),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntensorflow = "2.12.*"\n', "tensorflow==2.12.*"),
        ("pyproject.toml", 'tensorflow-io = "0.32.0"\ntensorflow = "^2.9"\n', "tensorflow>=2.9,<3"),
        ("pyproject.toml", 'tensorflow = {version = "~2.9.1", optional = true}\n', "tensorflow>=2.9.1,<2.10"),
        (
            "setup.py",
            "install_requires=['tensorflow-probability>=0.1', 'tensorflow==2.4.1']\n",
            "tensorflow==2.4.1",
        ),
        ("environment.yml", "dependencies:\n  - tensorflow=2.9\n", "tensorflow==2.9"),
        ("requirements.txt", "tensorflow-datasets==4.9.3\nmytensorflow==1.0\n", ""),
    ],
)
def test_where_a_requirement_is_read(tmp_path: Path, name: str, content: str, text: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "package").mkdir()
    found = find_requirement([str(tmp_path / "package" / "a.py")])
    assert found.text == text
    assert str(tmp_path / name) in found.looked_in


def test_names() -> None:
    table = load(NOTHING)
    here = table.presence("tensorflow.data.AUTOTUNE")
    assert here is not None
    assert here.mask & table.admitted == table.admitted
    never = table.presence("tensorflow.config.experimental.set_logical_device_configuration")
    assert never is not None
    assert (never.mask, never.old) == (0, 0)
    old = table.presence("tensorflow.Session")
    assert old is not None
    assert not old.mask
    assert old.old
    assert table.presence("tensorflow.summary.scalar") is None
    assert table.presence("tensorflow.python.keras.backend") is None
    assert table.presence("numpy.float32") is None


def test_keras_two_and_three() -> None:
    table = load(NOTHING)
    gone = table.presence("tensorflow.keras.layers.experimental.preprocessing.Resizing")
    assert gone is not None
    assert table.last(gone.mask) == "2.15"
    assert table.accepts("keras.Model.fit", "workers") is not None
    assert table.raises("keras.optimizers.legacy.Adam") & table.newest


@pytest.mark.tensorflow
def test_the_table_agrees_with_an_installed_tensorflow() -> None:
    tf = pytest.importorskip("tensorflow")
    version = ".".join(tf.__version__.split(".")[:2])
    table = load(NOTHING)
    if version not in table.versions:
        pytest.skip("the installed release is not in the table")
    bit = 1 << table.versions.index(version)
    wrong = []
    for package in (
        "tensorflow.data",
        "tensorflow.data.experimental",
        "tensorflow.config",
        "tensorflow.config.experimental",
        "keras.optimizers",
        "keras.losses",
    ):
        module = tf
        for part in package.split(".")[0 if package.startswith("keras") else 1 :]:
            module = getattr(module, part)
        for name, mask in table._names[package].items():
            if bool(mask & bit) != hasattr(module, name):
                wrong.append(f"{package}.{name}")
    assert wrong == []


def test_what_constructors_take_through_their_base_classes() -> None:
    table = load(NOTHING)
    layer = table.constructor("tensorflow.keras.layers.LSTM")
    assert layer is not None
    assert layer is table.constructor("keras.layers.LSTM")
    two, three = 1 << table.versions.index("2.15"), table.newest
    for parameter in ("units", "name", "dtype", "trainable", "input_shape", "implementation"):
        assert layer.takes(parameter, two | three)
    assert layer.takes("time_major", two)
    assert layer.takes("time_major", three) is False
    assert layer.takes("time_major", two | three) is None
    # It is given its own by the class, so that it raises as well.
    assert layer.takes("cell", three) is False
    assert layer.positions(three)[:3] == ("units", "activation", "recurrent_activation")
    assert "time_major" in layer.positions(two)
    assert table.constructor("keras.layers.Nothing") is None


def test_what_optimizers_take_and_forget() -> None:
    table = load(NOTHING)
    adam = table.constructor("keras.optimizers.Adam")
    assert adam is not None
    bits = {version: 1 << number for number, version in enumerate(table.versions)}
    assert [adam.takes("lr", bits[item]) for item in ("2.8", "2.15", "2.16")] == [True, True, False]
    assert [adam.ignores("lr", bits[item]) for item in ("2.8", "2.15", "2.16")] == [False, True, False]
    assert [adam.takes("decay", bits[item]) for item in ("2.8", "2.15", "2.16")] == [True, False, True]
    assert [adam.ignores("decay", bits[item]) for item in ("2.8", "2.15", "2.16")] == [False, False, True]
    assert [bool(adam.takes("weight_decay", bits[item])) for item in ("2.8", "2.12", "2.21")] == [
        False,
        True,
        True,
    ]
    assert adam.takes("clipnorm", bits["2.4"] | bits["2.21"])


def test_unknown_arguments_with_what_is_meant() -> None:
    table = load(wanting("tensorflow==2.18.0"))
    found = table.unknown_arguments("keras.optimizers.SGD", ["lr", "nestrov", "momentum", "decay", "name"])
    assert [(item.argument, item.renamed, item.near) for item in found] == [
        ("lr", "learning_rate", None),
        ("nestrov", None, "nesterov"),
    ]
    beside = table.unknown_arguments("keras.optimizers.SGD", ["lr", "learning_rate"])
    assert [(item.argument, item.meant) for item in beside] == [("lr", None)]
    saved = table.unknown_arguments("keras.callbacks.ModelCheckpoint", ["filepath", "period"])
    assert [(item.argument, item.meant, bool(item.mask)) for item in saved] == [("period", None, True)]
    # A name that the table does not have, and one that takes any keyword.
    assert table.unknown_arguments("keras.layers.Nothing", ["a"]) == ()
    assert table.unknown_arguments("keras.callbacks.LambdaCallback", ["a"]) == ()
    old = load(wanting("tensorflow==2.15.0"))
    assert old.unknown_arguments("keras.callbacks.ModelCheckpoint", ["filepath", "period"]) == ()


@pytest.mark.parametrize(
    ("asked", "name", "argument", "words"),
    [
        # Keras 2 had it, Keras 3 lost it and has it again.
        ("2.18.0", "keras.metrics.SparseCategoricalCrossentropy", "ignore_class", "2.16 to 2.18"),
        ("2.8.0", "keras.metrics.SparseCategoricalCrossentropy", "ignore_class", "2.8 and earlier"),
        ("2.21.0", "keras.layers.LSTM", "time_major", "2.16 and later"),
        ("2.18.0", "keras.layers.LSTM", "tim_major", "2.4 and later"),
        ("2.8.0", "keras.optimizers.Adam", "weight_decay", "2.8 and earlier"),
    ],
)
def test_which_releases_refuse_an_argument(asked: str, name: str, argument: str, words: str) -> None:
    table = load(wanting(f"tensorflow=={asked}"))
    (found,) = table.unknown_arguments(name, [argument])
    assert table.without(found.mask | table.takes_any_keyword_in(name)) == words


def test_words_of_keras_three() -> None:
    table = load(NOTHING)
    assert {"relu", "swish"} <= table.accepted_words("activations")
    assert "adam" in table.accepted_words("optimizers")
    assert {"mixed_float16", "mixed_bfloat16", "float32"} <= table.accepted_words("dtype_policies")
    assert "mixed_float" not in table.accepted_words("dtype_policies")
    first, last = (1 << table.versions.index(item) for item in ("2.16", "2.21"))
    assert "muon" in table.accepted_words("optimizers", last) - table.accepted_words("optimizers", first)
    assert table.word_releases("optimizers", "muon") & (first | last) == last
    assert not table.accepted_words("optimizers", 1)
    assert table.accepted_words("nothing") == frozenset()


_KINDS = (
    "callbacks",
    "constraints",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "optimizers",
    "optimizers.schedules",
    "regularizers",
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.tensorflow
def test_what_constructors_take_agrees_with_an_installed_keras() -> None:
    tf = pytest.importorskip("tensorflow")
    version = ".".join(tf.__version__.split(".")[:2])
    table = load(NOTHING)
    if version not in table.versions:
        pytest.skip("the installed release is not in the table")
    bit = 1 << table.versions.index(version)
    judged = 0
    wrong = []
    for kind in _KINDS:
        module = tf.keras
        for part in kind.split("."):
            module = getattr(module, part)
        for name, cls in sorted(vars(module).items()):
            found = table.constructor(f"keras.{kind}.{name}") if inspect.isclass(cls) else None
            if found is None or not found.known & bit or name == "Optimizer":
                continue
            wrong += [
                f"{kind}.{name}: {parameter} is not in the table"
                for parameter, item in inspect.signature(cls.__init__).parameters.items()
                if parameter != "self"
                and item.kind in (item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY)
                and not found.parameters.get(parameter, 0) & bit
            ]
            if found.open & bit:
                continue
            judged += 1
            # What is needed, and what no release takes: the second must be what is refused.
            needed = {
                parameter: 1
                for parameter, item in inspect.signature(cls.__init__).parameters.items()
                if parameter != "self"
                and item.default is item.empty
                and item.kind in (item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY)
            }
            try:
                cls(**needed, no_such_argument=1)
            except Exception as error:  # noqa: BLE001 (what is refused first differs)
                if (
                    "no_such_argument" not in str(error)
                    and "takes no arguments" not in str(error)
                    and not needed
                ):
                    wrong.append(f"{kind}.{name}: {error}")
            else:
                wrong.append(f"{kind}.{name} takes any argument")
            if not needed:
                # What base classes take must not be refused as an argument that nobody knows.
                for parameter, mask in found.parameters.items():
                    if mask & bit and not _known_there(cls, parameter):
                        wrong.append(f"{kind}.{name} does not take {parameter}")
    assert wrong == []
    assert judged > 200


def _known_there(cls: type, parameter: str) -> bool:
    """Tell whether an installed class takes a parameter, be it with another value than this."""
    try:
        cls(**{parameter: None})
    except Exception as error:  # noqa: BLE001 (a value may be refused in any way)
        text = str(error)
        return (
            "unexpected keyword" not in text and "not recognized" not in text and "Unrecognized" not in text
        )
    return True


@pytest.mark.tensorflow
def test_how_layers_are_called_agrees_with_an_installed_keras() -> None:
    tf = pytest.importorskip("tensorflow")
    if not tf.keras.__version__.startswith("3."):
        pytest.skip("the table says what Keras 3 takes")
    table = load(wanting(f"tensorflow=={tf.__version__}"))
    known = {name: table.layer_call(name) for name in ("Dropout", "BatchNormalization", "MultiHeadAttention")}
    assert known["Dropout"].params == ("inputs", "training")
    for name, call in known.items():
        assert call.params is not None
        taken = inspect.signature(getattr(tf.keras.layers, name).call).parameters
        assert set(call.params[1:]) <= set(taken)
        assert not call.takes_any
    assert table.was_called("keras.optimizers.Optimizer", "variables")
    assert not callable(tf.keras.optimizers.Adam().variables)
    # Recurrent layers had a `__call__` of their own, in another order than that of `call`.
    assert table.layer_call("LSTM").own_before
    assert table.layer_call("LSTM").params is None
    assert table.layer_call("Dense").params is None
    flip = table.layer_call("RandomFlip")
    assert flip.takes_any
    assert flip.own
    assert flip.params is not None
    assert flip.params[1:] == ("training",)
    with pytest.raises(TypeError):
        tf.keras.layers.RandomFlip()(tf.zeros((1, 4, 4, 3)), True)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Keras with NumPy 2
@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("function", "taken", "refused"),
    [
        ("keras.models.save_model", "model.keras", "model"),
        ("keras.models.save_model", "model.h5", "model.tf"),
        ("keras.Model.save_weights", "model.weights.h5", "model.h5"),
        ("keras.callbacks.ModelCheckpoint", "model.keras", "model"),
    ],
)
def test_ends_of_file_names_agree_with_an_installed_keras(
    tmp_path: Path, function: str, taken: str, refused: str
) -> None:
    tf = pytest.importorskip("tensorflow")
    if not tf.keras.__version__.startswith("3."):
        pytest.skip("the table says what Keras 3 takes")
    endings = load(wanting(f"tensorflow=={tf.__version__}")).file_endings(function)
    assert taken.endswith(endings)
    assert not refused.endswith(endings)
    model = tf.keras.Sequential([tf.keras.layers.Input((1,)), tf.keras.layers.Dense(1)])

    def write(name: str) -> None:
        path = str(tmp_path / name)
        if function.endswith("ModelCheckpoint"):
            tf.keras.callbacks.ModelCheckpoint(path)
        elif function.endswith("save_weights"):
            model.save_weights(path)
        else:
            model.save(path)

    write(taken)
    with pytest.raises(ValueError, match=r"file(path|name)"):
        write(refused)


@pytest.mark.parametrize(
    ("files", "text", "keras_2", "computed"),
    [
        ({"requirements.txt": "tensorflow >= 2.9.0\ntf-keras\n"}, "tensorflow>=2.9.0", True, False),
        ({"requirements.txt": "tf-keras-vis\ntensorflow>=2.9\n"}, "tensorflow>=2.9", False, False),
        ({"requirements.txt": "tensorflow>=2.4\ntensorflow-addons\n"}, "tensorflow>=2.4,<2.16", False, False),
        ({"requirements.txt": "tensorflow-addons==0.20\n"}, "tensorflow<2.16", False, False),
        ({"requirements.txt": "tensorflow>=2.8\nkeras==2.8.0\n"}, "tensorflow>=2.8,<2.9", False, False),
        ({"requirements.txt": "tensorflow\nkeras~=2.12\n"}, "tensorflow<2.16", False, False),
        ({"requirements.txt": "tensorflow\nkeras==2.2.4\n"}, "tensorflow<2.6", False, False),
        ({"requirements.txt": "keras==2.2.4\n"}, "tensorflow<2.0", False, False),
        ({"requirements.txt": "Keras==2.4.3\n"}, "tensorflow<2.6", False, False),
        ({"requirements.txt": "Keras>=2.4.3\n"}, "", False, False),
        ({"requirements.txt": "Tensorflow==2.9\nKeras\n"}, "tensorflow==2.9", False, False),
        ({"README.md": "    pip install Keras==2.2.4\n"}, "tensorflow<2.0", False, False),
        (
            {"README.md": "It is compatible with TensorFlow version <= 1.15\n"},
            "tensorflow==1.15.*",
            False,
            False,
        ),
        (
            {"requirements.txt": "tensorflow>=2.8\nkeras>=2.8\nkeras-tuner==1.0\n"},
            "tensorflow>=2.8",
            False,
            False,
        ),
        ({"requirements.txt": "tensorflow==2.18\nkeras==3.6\n"}, "tensorflow==2.18", False, False),
        (
            {"pyproject.toml": '[d]\ntensorflow = ">=2.8,<3"\nkeras = "^2.8"\n'},
            "tensorflow>=2.8,<3,<2.16",
            False,
            False,
        ),
        (
            {"pyproject.toml": 'tensorflow = ">=2.8,<3"\n', "setup.py": "install = ['keras==2.8.0']\n"},
            "tensorflow>=2.8,<3,<2.9",
            False,
            False,
        ),
        ({"requirements.txt": "tensorflow==2.18\ntensorflow_addons\n"}, "tensorflow==2.18", False, False),
        ({"setup.py": "need = f'tensorflow=={version}'\nmore = ['tensorflow>=2.0']\n"}, "", False, True),
        ({"setup.py": 'need = "tensorflow>={},<{}".format(low, high)\n'}, "", False, True),
        ({"setup.py": "need = 'tensorflow' + version\n"}, "", False, True),
        (
            {"setup.py": "need = f'tensorflow=={v}'\n", "requirements.txt": "tensorflow==2.9\n"},
            "tensorflow==2.9",
            False,
            False,
        ),
        (
            {"requirements.txt": "numpy\n", "setup.cfg": "  tensorflow>=2.12\n  tf_keras\n"},
            "tensorflow>=2.12",
            True,
            False,
        ),
    ],
)
def test_what_stands_beside_a_requirement(
    tmp_path: Path, files: dict[str, str], text: str, keras_2: bool, computed: bool
) -> None:
    (tmp_path / ".git").mkdir()
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    found = find_requirement([str(tmp_path / "a.py")])
    assert (found.text, found.keras_2, found.computed) == (text, keras_2, computed)


def test_each_project_of_a_collection_has_its_own_requirement(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name, asked in (("old", "tensorflow==2.0.0"), ("new", "tensorflow>=2.18")):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "requirements.txt").write_text(asked, encoding="utf-8")
    found = find_requirement([str(tmp_path / name / "deep" / "a.py") for name in ("old", "new")])
    assert found.text == ""
    assert {folder.rpartition("/")[2]: asked.text for folder, asked in found.below} == {
        "old": "tensorflow==2.0.0",
        "new": "tensorflow>=2.18",
    }


def api_findings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    from cfgfix.lint.runner import Request, check
    from cfgfix.settings.reader import Settings

    monkeypatch.chdir(folder)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", "")
    report = check(Request(paths=(".",), settings=Settings(root=str(folder), hardware="none")))
    return [(item.location.path, item.rule) for item in report.findings() if item.rule.startswith("DEP")]


@pytest.mark.parametrize(
    ("files", "rules"),
    [
        ({}, ["DEP020", "DEP008"]),
        ({"requirements.txt": "tensorflow>=2.9\n"}, ["DEP020", "DEP008"]),
        ({"requirements.txt": "tensorflow>=2.9\ntf-keras\n"}, []),
        ({"requirements.txt": "tensorflow>=2.9\ntensorflow_addons\n"}, []),
        ({"setup.py": 'need = "tensorflow>={},<{}".format(low, high)\n'}, []),
        ({"other.py": "import tensorflow_addons as tfa\n"}, ["DEP020", "DEP008"]),
        # TensorFlow 2.4 has no optimizers.legacy.
        ({"project/requirements.txt": "tensorflow==2.4\n"}, ["DEP008"]),
        ({"project/requirements.txt": "tensorflow==2.18\n"}, ["DEP020", "DEP008"]),
        ({"elsewhere/requirements.txt": "tensorflow==2.4\n"}, ["DEP020", "DEP008"]),
    ],
)
def test_what_keras_3_lacks_is_told_where_keras_3_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], rules: list[str]
) -> None:
    (tmp_path / ".git").mkdir()
    for folder in ("project", "elsewhere"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "empty.py").write_text("import tensorflow as tf\n")
    (tmp_path / "project" / "train.py").write_text(
        "import tensorflow as tf\n"
        "optimizer = tf.keras.optimizers.Adam(lr=0.1)\n"
        "other = tf.keras.optimizers.legacy.SGD(0.1)\n"
    )
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert sorted(rule for _, rule in api_findings(tmp_path, monkeypatch)) == sorted(rules)


def test_a_callable_that_once_took_any_keyword_did_not_refuse_one() -> None:
    table = load(NOTHING)
    took = table.accepts("keras.Model.compile", "sample_weight_mode")
    assert took is not None
    assert took & 1 << table.versions.index("2.15")
    assert not took & table.newest


@pytest.mark.parametrize(
    ("files", "rules"),
    [
        ({"setup.py": 'need = "tensorflow>={},<{}".format(low, high)\n'}, ["DEP013"]),
        # The project is judged by its own release, which has no experimental_run_v2 and the new place of the thread options.
        ({"project/requirements.txt": "tensorflow==2.10\n"}, ["DEP013", "DEP012", "DEP004"]),
        ({"project/requirements.txt": "tensorflow==2.0.0\n"}, ["DEP013"]),
        ({"project/requirements.txt": "tensorflow==1.15.0\n"}, []),
    ],
)
def test_what_no_release_has_is_told_whichever_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], rules: list[str]
) -> None:
    (tmp_path / ".git").mkdir()
    for folder in ("project", "elsewhere"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "empty.py").write_text("import tensorflow as tf\n")
    (tmp_path / "project" / "train.py").write_text(
        "import tensorflow as tf\n"
        "file = tf.io.gfile.open('a')\n"
        "optimizer = tf.keras.optimizers.Adam(lr=0.1)\n"
        "run = tf.distribute.MirroredStrategy().experimental_run_v2(None)\n"
        "layer = tf.keras.layers.experimental.preprocessing.Resizing(8, 8)\n"
        "options = tf.data.Options()\n"
        "options.experimental_threading.private_threadpool_size = 1\n"
    )
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert [rule for _, rule in api_findings(tmp_path, monkeypatch)] == rules


def test_a_computed_release_may_still_be_one_of_tensorflow_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text("import tensorflow as tf\nconfig = tf.ConfigProto()\n")
    from cfgfix.lint.runner import Request, check
    from cfgfix.settings.reader import Settings

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", "")
    found = []
    for extra in ("", 'extra = ["tensorflow>=2.0.0"]\n'):
        (tmp_path / "setup.py").write_text(f'need = "tensorflow==" + version\n{extra}')
        report = check(Request(paths=(".",), settings=Settings(root=str(tmp_path), hardware="none")))
        found.append([item.severity.label for item in report.findings() if item.rule == "DEP010"])
    assert found == [["info"], ["error"]]


def test_the_files_of_a_requirements_folder_are_read(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "base.txt").write_text("numpy\n", encoding="utf-8")
    (tmp_path / "requirements" / "dev.txt").write_text("tensorflow==2.18\n", encoding="utf-8")
    (tmp_path / "requirements" / "tensorflow.txt").write_text("tensorflow>=2.9,<2.13\n", encoding="utf-8")
    assert find_requirement([str(tmp_path / "a.py")]).text == "tensorflow>=2.9,<2.13"


@pytest.mark.parametrize(
    ("files", "text", "keras_2"),
    [
        (
            {"requirements.txt": "keras==2.2.4\n", "Dockerfile": "FROM tensorflow/tensorflow:2.14.0\n"},
            "",
            False,
        ),
        ({"requirements.txt": "keras==2.2.4\ntensorflow==2.4.1\n"}, "tensorflow==2.4.1", False),
        ({"requirements.txt": "tensorflow-text==2.8.2\n"}, "tensorflow>=2.8,<2.9", False),
        (
            {"setup.py": "need = ['tensorflow', 'tf_models_official~=2.11.0']\n"},
            "tensorflow>=2.11,<2.12",
            False,
        ),
        ({"requirements.txt": "tensorflow-text==2.8.2\ntensorflow>=2.8\n"}, "tensorflow>=2.8", False),
        ({"requirements.txt": "tensorflow-text>=2.8\n"}, "", False),
        ({"requirements.txt": "tensorflow>=2.8\nnumba<0.55\n"}, "tensorflow>=2.8,<2.12", False),
        ({"requirements.txt": "tensorflow>=2.8\nnumba==0.55.2\n"}, "tensorflow>=2.8,<2.14", False),
        ({"requirements.txt": "tensorflow>=2.8\nnumba>=0.50\n"}, "tensorflow>=2.8", False),
        ({"README.md": "Tested with TensorFlow 1.15 and 2.3.\n"}, "", False),
        ({"README.md": "Requires TensorFlow 1.15.\n\nThe folder two/ is for TF2.\n"}, "", False),
        ({"README.md": "The model was trained with TensorFlow 1.15.\n"}, "", False),
        ({"README.md": "This code uses tensorflow 1.13 for training.\n"}, "tensorflow==1.13.*", False),
        ({"README.md": "Requires **TensorFlow 1.x** and NumPy.\n"}, "tensorflow==1.*", False),
        ({"README.md": "Tested with TensorFlow 1.x/2.x, TensorFlow 2.3 and 1.15.\n"}, "", False),
        ({"README.md": "Not for TensorFlow 1.13.\n"}, "", False),
        ({"README.md": "Then `pip3 install --user tensorflow-gpu==2.2.0`.\n"}, "tensorflow==2.2.0", False),
        ({"README.md": "It was written with tensorflow==2.2.0, long ago.\n"}, "", False),
        ({"README.md": "# Needs\n\n3. Tensorflow-gpu 2.3.0\n"}, "tensorflow==2.3.0", False),
        ({"README.md": "- TensorFlow 2.4 or newer\n"}, "tensorflow>=2.4", False),
        ({"README.md": "* tensorflow 2.2\n* numpy\n"}, "tensorflow==2.2.*", False),
        ({"README.md": "- `tensorflow` (>= 2.1, < 2.12)\n"}, "tensorflow>=2.1,<2.12", False),
        ({"README.md": "- Tensorflow == 2.15.x (see the site)\n"}, "tensorflow==2.15.*", False),
        ({"README.md": "+ **TensorFlow**: version 2.5.3 (tested).\n"}, "tensorflow==2.5.3", False),
        ({"README.md": "- [TensorFlow](https://www.tensorflow.org) 2.6\n"}, "tensorflow==2.6.*", False),
        ({"README.md": "- TensorFlow 2.0\n- TensorFlow 2.3 or PyTorch 1.6\n"}, "", False),
        ({"README.md": "- TensorFlow 2.2/2.3/2.4\n- TensorFlow 2.0 Overview\n"}, "", False),
        ({"README.md": "- tensorflow-addons 0.12\n- tensorflow/models 2.4\n"}, "", False),
        (
            {"README.md": "- TensorFlow 2.3.0\n", "setup.py": "x = ['tensorflow>=2.9']\n"},
            "tensorflow>=2.9",
            False,
        ),
        ({"README.md": "- TensorFlow 2.3.0\n\npip install tensorflow==2.4\n"}, "tensorflow==2.4", False),
        (
            {"README.md": "pip install tensorflow==2.2\n", "setup.py": "need = ['tensorflow>=2.9']\n"},
            "tensorflow>=2.9",
            False,
        ),
        ({".github/workflows/test.yml": "run: pip install tensorflow==2.4 tf-keras\n"}, "", True),
        (
            {"tox.ini": "setenv = TF_USE_LEGACY_KERAS=1\n", "setup.py": "need = ['tensorflow>=2.9']\n"},
            "tensorflow>=2.9",
            True,
        ),
        ({"Dockerfile": "RUN pip install tensorflow==2.4\n"}, "tensorflow==2.4", False),
        (
            {"Dockerfile": "ARG X=1\nFROM --platform=linux/amd64 tensorflow/tensorflow:2.9.1-gpu AS base\n"},
            "tensorflow==2.9.1",
            False,
        ),
        ({"Dockerfile": "FROM tensorflow/tensorflow:latest-gpu\nRUN make\n"}, "", False),
        ({"Dockerfile": "FROM tensorflow/tensorflow:2.9.1rc2\n"}, "", False),
        (
            {"Dockerfile": "FROM registry.example.com:5000/tensorflow/tensorflow:2.9.1\n"},
            "tensorflow==2.9.1",
            False,
        ),
        (
            {
                "docker/Dockerfile.train": "FROM tensorflow/tensorflow:2.9.1-gpu\n",
                "requirements.txt": "numpy\n",
            },
            "tensorflow==2.9.1",
            False,
        ),
        (
            {
                "docker/Dockerfile": "FROM tensorflow/tensorflow:2.9.1-gpu\n",
                "docker/Dockerfile.cpu": "FROM tensorflow/tensorflow:2.9.1\n",
            },
            "tensorflow==2.9.1",
            False,
        ),
        (
            {
                "docker/Dockerfile": "FROM tensorflow/tensorflow:2.9.1\n",
                "docker/Dockerfile.old": "FROM tensorflow/tensorflow:1.15.5\n",
            },
            "",
            False,
        ),
        (
            {
                "docker/Dockerfile": "FROM tensorflow/tensorflow:2.9.1\n",
                "docker/Dockerfile.other": "FROM mine/tensorflow-training:1.15\n",
            },
            "",
            False,
        ),
        (
            {
                "docker/Dockerfile": "FROM tensorflow/tensorflow:2.9.1\n",
                "setup.py": "x = ['tensorflow>=2.9']\n",
            },
            "tensorflow>=2.9",
            False,
        ),
        ({"Dockerfile": "FROM nvcr.io/nvidia/tensorflow:21.02-tf2-py3\n"}, "tensorflow>=2.2,<2.5", False),
        ({"Dockerfile": "FROM nvcr.io/nvidia/tensorflow:20.08-tf1-py3\n"}, "tensorflow<2.0", False),
        (
            {"Dockerfile": "FROM gcr.io/deeplearning-platform-release/tf2-gpu.2-6\n"},
            "tensorflow==2.6.*",
            False,
        ),
        (
            {
                "charts/mill/templates/run.yaml": "spec:\n  containers:\n  - image: tensorflow/tensorflow:2.9.1-gpu\n",
                "charts/mill/templates/other.yaml": "spec:\n  containers:\n  - image: busybox:1.0\n",
                "charts/mill/values.yaml": "tag: 1\n",
            },
            "tensorflow==2.9.1",
            False,
        ),
        (
            {
                "k8s/train.yml": 'image: "tensorflow/tensorflow:2.9.1"\n',
                "k8s/serve.yml": "image: tensorflow/tensorflow:2.11.0\n",
            },
            "",
            False,
        ),
        (
            {"docker-compose.yml": "services:\n  a:\n    image: tensorflow/tensorflow:2.8.0 # old\n"},
            "tensorflow==2.8.0",
            False,
        ),
        ({"models/values.yaml": "image: tensorflow/tensorflow:2.8.0\n"}, "", False),
        (
            {"k8s/a.yml": "image: tensorflow/tensorflow:2.8.0\n", "requirements.txt": "tensorflow==2.4\n"},
            "tensorflow==2.4",
            False,
        ),
        ({"requirments.txt": "tensorflow==2.2.0\n"}, "tensorflow==2.2.0", False),
        (
            {
                "requirements.txt": "numpy\n-r parts/model.txt  # the model\n-r ../outside.txt\n-r none.txt\n",
                "parts/model.txt": "tensorflow==2.12.0\n",
            },
            "tensorflow==2.12.0",
            False,
        ),
        ({"requirements_gpu.txt": "tensorflow-gpu==2.3.1\n"}, "tensorflow==2.3.1", False),
        (
            {"requirements.txt": "tensorflow\n", "README.md": "pip install tensorflow==2.2\n"},
            "tensorflow==2.2",
            False,
        ),
    ],
)
def test_what_guides_and_runs_say_of_a_release(
    tmp_path: Path, files: dict[str, str], text: str, keras_2: bool
) -> None:
    (tmp_path / ".git").mkdir()
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    found = find_requirement([str(tmp_path / "a.py")])
    assert (found.text, found.keras_2) == (text, keras_2)


@pytest.mark.parametrize(
    ("name", "content", "whatever"),
    [
        ("requirements.txt", "numpy\ntensorflow  # the newest\n", True),
        ("requirements.txt", "tensorflow[and-cuda] ; sys_platform == 'linux'\n", True),
        ("requirements.txt", "tensorflow-datasets\ntensorflow_hub\nmytensorflow\n", False),
        ("requirements.txt", "# tensorflow\n", False),
        ("environment.yml", "dependencies:\n  - python\n  - tensorflow-cpu\n", True),
        ("pyproject.toml", '[project]\ndependencies = [\n  "numpy",\n  "tensorflow",\n]\n', True),
        ("pyproject.toml", '[project]\nkeywords = ["tensorflow"]\n', False),
        ("setup.py", "setup(install_requires=['numpy', 'tensorflow'])\n", True),
        ("setup.py", "setup(keywords=['tensorflow'], install_requires=['numpy'])\n", False),
        ("README.md", "pip install tensorflow\n", False),
    ],
)
def test_a_requirement_without_a_release_asks_for_any(
    tmp_path: Path, name: str, content: str, whatever: bool
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text(content, encoding="utf-8")
    found = find_requirement([str(tmp_path / "a.py")])
    assert (found.text, found.whatever, found.known) == ("", whatever, whatever)


def environment(place: Path, *names: str) -> Path:
    packages = place / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    for name in names:
        (packages / name).mkdir()
    return place


def test_what_is_installed_counts_where_no_file_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.prefix", str(environment(tmp_path / "own", "numpy-2.0.0.dist-info")))
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    files = [str(tmp_path / "src" / "a.py")]
    assert not find_requirement(files, AUTO).known

    used = environment(tmp_path / "used", "tensorflow_cpu-2.15.0.post1.dist-info")
    monkeypatch.setenv("VIRTUAL_ENV", str(used))
    assert find_requirement(files, AUTO).text == "tensorflow==2.15.0"
    assert not find_requirement(files).known

    environment(tmp_path / ".venv", "tensorflow_io-0.32.0.dist-info", "tensorflow-2.21.0.dist-info")
    found = find_requirement(files, AUTO)
    assert (found.path, found.text, found.installed) == (".venv", "tensorflow==2.21.0", True)
    # What a machine has does not say that a program for TensorFlow 1 is meant for it.
    assert found.admits_tf1()
    assert str(tmp_path / ".venv" / "lib") in found.looked_in

    (tmp_path / "requirements.txt").write_text("tensorflow>=2.4,<2.11\n", encoding="utf-8")
    found = find_requirement(files, AUTO)
    assert (found.text, found.installed) == ("tensorflow>=2.4,<2.11", False)
    assert find_requirement(files, "2.15").text == "tensorflow==2.15"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("auto", ""),
        ("requirements", ""),
        ("2.15", "tensorflow==2.15"),
        (" 2.16.1 ", "tensorflow==2.16.1"),
        (">=2.16,<2.19", "tensorflow>=2.16,<2.19"),
        ("tensorflow ~= 2.15.0", "tensorflow~=2.15.0"),
        ("==2.12.*", "tensorflow==2.12.*"),
    ],
)
def test_the_setting_says_which_release_is_meant(value: str, text: str) -> None:
    assert asked_release(value) == text


@pytest.mark.parametrize(
    "value", ["", "newest", "2.15.0.1", ">=", "torch==2.1", "2.15; rm", " " * 100_000 + "x"]
)
def test_a_setting_that_says_nothing_is_refused(value: str) -> None:
    with pytest.raises(CfgfixError, match="is no release of TensorFlow"):
        asked_release(value)


def test_each_project_of_a_collection_has_its_own_releases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    text = "import tensorflow as tf\noptimizer = tf.keras.optimizers.Adam(lr=0.1)\n"
    for folder, asked in (("old", "tensorflow==2.8.0\n"), ("new", "tensorflow==2.19.0\n"), ("open", "")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "train.py").write_text(text)
        if asked:
            (tmp_path / folder / "requirements.txt").write_text(asked)
    (tmp_path / "README.md").write_text("- TensorFlow 2.3.0\n")
    settings = Settings(root=str(tmp_path), hardware="none", tensorflow="requirements")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CFGFIX_CACHE_DIR", "")
    report = check(Request(paths=(".",), settings=settings))
    found = {
        Path(item.location.path).parent.name: item.severity.label
        for item in report.findings()
        if item.rule == "DEP020" and item.severity.label != "info"
    }
    assert found == {"new": "error"}
    (tmp_path / "README.md").unlink()
    report = check(Request(paths=(".",), settings=settings))
    found = {
        Path(item.location.path).parent.name: item.severity.label
        for item in report.findings()
        if item.rule == "DEP020" and item.severity.label != "info"
    }
    assert found == {"new": "error", "open": "error"}
