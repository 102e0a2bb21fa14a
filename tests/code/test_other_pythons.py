"""Which syntax errors are those of another Python, and which stop a program."""

from __future__ import annotations

import pytest

from cfgfix.code.inference.entry_points import for_another_python

PYTHON_TWO = [
    "print 'a'\n",
    "print >>out, a\nx = 'a\n",
    "try:\n    x\nexcept (A, B), e:\n    print e\n",
    "raise E, 'x'\n",
    "mode = 0755\n",
    "x = 10L\n",
    "if a <> b:\n    pass\n",
    "def f(a, (b, c)):\n    pass\n",
    "exec 'x'\n",
    "x = ur'a'\n",
]
PYTHON_THREE = [
    "def f(:\n    pass\n",
    "x = (1,\n",
    "if x\n    pass\n",
    "x = 1.05 +\n",
    "print(x\n",
    "def f(x=(1, 2):\n    pass\n",
    "'''\nprint the results\n'''\nx = [1.007, 2\n",
    "lr = 1e-05 = 3\n",
    "def f(x, y=g(1):\n    pass\n",
]


def line_of_the_error(source: str) -> int:
    with pytest.raises(SyntaxError) as caught:
        compile(source, "a.py", "exec")
    return caught.value.lineno or 1


@pytest.mark.parametrize("source", PYTHON_TWO)
def test_python_two_is_known_by_what_python_three_does_not_read(source: str) -> None:
    assert for_another_python(source, line_of_the_error(source))


@pytest.mark.parametrize("source", PYTHON_THREE)
def test_a_mistake_is_none_of_another_python(source: str) -> None:
    assert not for_another_python(source, line_of_the_error(source))
