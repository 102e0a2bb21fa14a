"""Calls of what is outside the project and not modelled."""

from __future__ import annotations

import functools

from cfgfix.code.inference.interpreter.events import LibraryCall
from cfgfix.code.inference.interpreter.objects import FunctionObject, Made, Mapping, Value
from cfgfix.code.inference.interpreter.run import Call
from cfgfix.code.inference.interpreter.values import all_origins, key_of

ENDS = frozenset({"sys.exit", "os._exit", "builtins.exit", "builtins.quit"})
"""Calls after which a program is over."""
FRAMEWORK = ("tensorflow.", "keras.", "tensorflow_datasets.")
"""What the names of TensorFlow begin with: all its calls are noted, those of other libraries where they get config values."""
_TELLING = frozenset({"print", "pprint", "log", "info", "debug", "warning", "warn", "critical", "exception"})

_LOGS = (
    "logging.",
    "pprint.",
    "loguru.",
    "absl.logging.",
    "rich.",
    "tqdm.",
    "warnings.",
    "wandb.config",
    "mlflow.log_param",
    "sys.stdout.",
    "sys.stderr.",
    "structlog.",
    "tensorflow.print",
    "tensorflow.logging",
    "tensorflow.get_logger",
    "tabulate.",
    "prettytable.",
)

_SETTINGS_OF_LOGS = frozenset(
    {
        "addHandler",
        "basicConfig",
        "configure",
        "dictConfig",
        "fileConfig",
        "FileHandler",
        "Formatter",
        "getLogger",
        "RotatingFileHandler",
        "setLevel",
        "set_stderrthreshold",
        "set_verbosity",
        "simplefilter",
        "StreamHandler",
    }
)
"""What sets up a log: a value given to it has an effect."""
_DUMPS = (
    "yaml.dump",
    "yaml.safe_dump",
    "json.dump",
    "json.dumps",
    "toml.dump",
    "toml.dumps",
    "pickle.dump",
    "omegaconf.OmegaConf.save",
    "omegaconf.OmegaConf.to_yaml",
    "ruamel.yaml.YAML.dump",
    "wandb.init",
    "wandb.config.update",
    "mlflow.log_params",
    "tensorflow.summary.text",
    "joblib.dump",
    "shutil.copy",
    "shutil.copyfile",
    "json.JSONEncoder",
)

TRACKERS = frozenset(
    {"aim", "clearml", "comet_ml", "dvclive", "mlflow", "neptune", "tensorboardX", "trains", "wandb"}
)
"""Packages that keep what a run was made with, and take nothing out of it."""
_KEEPS = ("log_", "add_tag", "set_tag", "add_hparams", "add_text")
"""What the names of their methods begin with that only write down what they get."""


_CARRIERS = frozenset(
    {
        "numpy.array",
        "numpy.asarray",
        "numpy.stack",
        "tensorflow.as_string",
        "tensorflow.cast",
        "tensorflow.constant",
        "tensorflow.convert_to_tensor",
        "tensorflow.stack",
        "tensorflow.strings.as_string",
        "tensorflow.strings.join",
    }
)
"""Calls that only hand on what they are given, in another form: it counts where the result does."""


def note(call: Call, name: str) -> None:
    """Note a library call for the checks that judge such calls."""
    run = call.run
    run.calls.append(
        LibraryCall(
            name,
            call.args,
            call.keywords,
            call.spot,
            call.spread,
            run.conditions,
            call.opaque,
            call.receiver,
        )
    )


@functools.lru_cache(maxsize=16_384)
def _only_tells(name: str) -> bool:
    """Tell whether a call only prints, logs or writes down its arguments."""
    last = name.rpartition(".")[2]
    if last in _SETTINGS_OF_LOGS or (last == "add" and name.startswith("loguru.")):
        # `logger.add(path)` of loguru opens the file that the log goes to.
        return False
    if name.startswith(_LOGS) or name in _DUMPS:
        return True
    if last.startswith(_KEEPS) and name.partition(".")[0] in TRACKERS:
        return True
    return last in _TELLING and ("logg" in name or "print" in last or "logging.getLogger" in name)


def _called_with_given(call: Call) -> Mapping | None:
    """Call a function argument with the mapping of arguments passed beside it.

    The mapping is returned; None where there is none.

    `Trainer(build=net, build_kwargs={"cfg": cfg})` calls `net(cfg=cfg)`, with further arguments that are not known.
    """
    for name, function in call.keywords.items():
        if type(function) is not FunctionObject:
            continue
        for beside in (f"{name}_kwargs", f"{name}_args", "kwargs"):
            given = call.keywords.get(beside)
            if isinstance(given, Mapping) and given.key is None and not given.open:
                named = {str(key): value for key, value in given.entries.items()}
                call.then(function, (), named, opaque=True)
                return given
    return None


def _is_of_config(values: tuple[Value, ...]) -> bool:
    """Tell whether one of some values comes from a config."""
    for value in values:  # noqa: SIM110 - `any` takes three times as long, and most calls come here
        if value.origins or key_of(value) is not None:
            return True
    return False


def library_call(call: Call, name: str) -> Value:
    """Note a call of something outside the project, and return its result."""
    run, spot = call.run, call.spot
    values = call.values
    if call.spread is not None or name.startswith(FRAMEWORK) or _is_of_config(values):
        note(call, name)
    if call.spread is not None:
        for value in call.keywords.values():
            run.taken(value, spot)
    if call.receiver is not None:
        run.use(call.receiver, spot)
    made = Made(name, call.args, call.keywords, spot, call.receiver)
    if _only_tells(name):
        for value in values:
            run.log(value, spot, to_file=name in _DUMPS)
    elif name in _CARRIERS:
        made.origins = frozenset().union(*(all_origins(value) for value in values))
    else:
        given = _called_with_given(call)
        into_objects = not name.startswith(FRAMEWORK)
        for value in values:
            if value is not given:
                run.use(value, spot, deep=True, into_objects=into_objects)
        run.hand_over(call.frame, values)
    return made if run.tensors is None else run.tensors.after_call(call, name, made)
