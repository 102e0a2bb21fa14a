"""Names that NumPy has no more: what each was, and in which releases it is missing.

Looked up on NumPy 1.23.5, 1.24.4, 1.26.4, 2.0.2 and 2.4.6, executed; which object a name was is so on 1.23.5 and 1.26.4. The release notes
of NumPy 1.24.0 and 2.0.0 say the same.
"""

from __future__ import annotations

BUILTINS = {
    "float": "float",
    "int": "int",
    "object": "object",
    "complex": "complex",
    "str": "str",
    "unicode": "str",
    "bool": "bool",
    "long": "int",
}
"""Names of Python's own types, gone with NumPy 1.24, and which type each was."""
BACK = frozenset({"bool", "long"})
"""Those that NumPy 2 has again, as types of its own."""
LATER = {
    "Inf": "inf",
    "Infinity": "inf",
    "PINF": "inf",
    "infty": "inf",
    "NaN": "nan",
    "float_": "float64",
    "complex_": "complex128",
    "unicode_": "str_",
    "string_": "bytes_",
    "mat": "asmatrix",
    "product": "prod",
    "cumproduct": "cumprod",
    "alltrue": "all",
    "sometrue": "any",
    "longfloat": "longdouble",
    "singlecomplex": "complex64",
    "cfloat": "complex128",
    "asfarray": "",
    "find_common_type": "",
    "msort": "",
    "issubclass_": "",
    "issubsctype": "",
    "obj2sctype": "",
    "maximum_sctype": "",
    "set_string_function": "",
    "NINF": "",
    "PZERO": "",
    "NZERO": "",
}
"""Names that are gone with NumPy 2, and the name that stands for each; empty where none does."""
CALLS = frozenset({"product", "cumproduct", "alltrue", "sometrue"})
"""Those that were functions of their own, which called the other and warned."""
GONE = frozenset({*BUILTINS, *LATER})
