"""Functions that worker processes can import."""

from __future__ import annotations

import os
import time


def letters(text: str) -> list[int]:
    """Hold the GIL for about a millisecond."""
    total = 0
    for number in range(12_000):
        total += number % 7
    return [ord(letter) for letter in text] + [total % 2]


def wait(text: str) -> int:
    """Leave the GIL alone for two milliseconds."""
    time.sleep(0.002)
    return len(text)


def who(_: str) -> int:
    letters("x")
    return os.getpid()


def fail(text: str) -> int:
    if text == "bad":
        raise KeyError("this one is bad")
    return len(letters(text))


def chatter(text: str) -> int:
    print("noise on standard output", flush=True)  # noqa: T201 - it is what the test is about
    return len(letters(text))


def die_in_workers(text: str) -> int:
    if os.environ.get("CFGFIX_TEST_MAIN") != str(os.getpid()):
        os._exit(3)
    letters(text)
    return len(text)
