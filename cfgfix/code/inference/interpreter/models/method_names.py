"""Names that are methods of dictionaries and of the classes configs are kept in, and so no keys."""

from __future__ import annotations

DICT_METHODS = frozenset(
    {"get", "pop", "items", "keys", "values", "update", "setdefault", "copy", "clear", "popitem", "fromkeys"}
)
CONVERSIONS = frozenset({"int", "float", "bool", "list", "getint", "getfloat", "getboolean"})
"""Methods of a `ConfigBox` that convert an entry."""
_OF_BOX = DICT_METHODS | {"to_dict", "to_yaml", "to_json", "to_toml", "merge_update"}
CLASS_OF_FLAVOUR = {
    "dict": "builtins.dict", "EasyDict": "easydict.EasyDict", "Munch": "munch.Munch", "Box": "box.Box", "ConfigBox": "box.ConfigBox", "DotMap": "dotmap.DotMap",
    "addict": "addict.Dict", "AttrDict": "attrdict.AttrDict", "namespace": "types.SimpleNamespace", "argparse": "argparse.Namespace",
    "yacs": "yacs.config.CfgNode", "ml_collections": "ml_collections.ConfigDict",
}  # fmt: skip
"""The classes of mappings by their flavours."""
CLASSES_TOLD_APART = frozenset(CLASS_OF_FLAVOUR.values()) | {
    f"builtins.{name}" for name in ("str", "int", "float", "bool", "bytes", "list", "tuple", "set")
}
"""Classes of which it is known whether two are the same."""
MARKS = frozenset(
    {"dataclasses.MISSING", "attr.NOTHING", "attrs.NOTHING", "inspect.Parameter.empty", "omegaconf.MISSING"}
)
"""Objects that stand for nothing, and are no value of a program."""
CLASSES_OF_ARRAYS = frozenset(
    {"numpy.ndarray", "numpy.generic", "numpy.number", "numpy.integer", "numpy.floating", "numpy.bool_", "numpy.float32",
     "numpy.float64", "numpy.int32", "numpy.int64", "tensorflow.Tensor", "tensorflow.Variable", "tensorflow.RaggedTensor",
     "tensorflow.data.Dataset"}
)  # fmt: skip
"""Classes of which nothing is that a file gives."""
CASELESS = frozenset({"configparser section"})
"""Mappings whose names are in small letters, however they are asked for."""
CONTEXT = "click.Context"
"""What click hands to its commands."""
DOTTED = frozenset({"Box", "ConfigBox"})
"""Classes that take the names of inner entries with dots between them (`box_dots`)."""
GROWING = frozenset({"DotMap", "addict"})
"""Classes that make an empty one of themselves where a name is asked for that is not there, and say of each name that it is."""
METHODS_OF: dict[str, frozenset[str]] = {
    "namespace": frozenset(),
    "argparse": frozenset(),
    "yacs": DICT_METHODS
    | {
        "clone",
        "freeze",
        "defrost",
        "merge_from_file",
        "merge_from_list",
        "merge_from_other_cfg",
        "dump",
        "is_frozen",
        "register_deprecated_key",
        "set_new_allowed",
    },
    "ml_collections": DICT_METHODS
    | {
        "lock",
        "unlock",
        "to_dict",
        "to_yaml",
        "to_json",
        "copy_and_resolve_references",
        "update_from_flattened_dict",
        "is_locked",
        "type_safe",
        "ignore_type",
        "get_ref",
        "get_type",
        "eq_as_configdict",
        "to_json_best_effort",
        "get_oneway_ref",
        "unlocked",
    },
    "Box": _OF_BOX,
    "ConfigBox": _OF_BOX | CONVERSIONS,
    "DotMap": DICT_METHODS | {"toDict", "pprint"},
    "Munch": DICT_METHODS | {"toDict", "toJSON", "toYAML"},
    "HParams": frozenset(
        {
            "add_hparam",
            "set_hparam",
            "del_hparam",
            "get",
            "values",
            "parse",
            "parse_json",
            "override_from_dict",
            "to_json",
            "to_proto",
            "get_model_structure",
            "set_model_structure",
        }
    ),
    "addict": DICT_METHODS | {"to_dict", "freeze", "unfreeze", "deepcopy"},
}
"""By the flavour of the mapping; `DICT_METHODS` for any other."""
