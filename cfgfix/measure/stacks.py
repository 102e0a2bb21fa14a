"""Who works on a thread's stack, and where in the user's code that is."""

from __future__ import annotations

import gc
import os
import sys
import sysconfig
import threading
from types import FrameType

DEPTH = 60
"""Frames of a stack that are read, from the innermost."""

_OWN = os.path.dirname(os.path.abspath(__file__))
_LIBRARY = tuple(
    {
        os.path.abspath(path) + os.sep
        for path in (
            *(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")),
            _OWN,
        )
    }
)


def is_users(file: str) -> bool:
    """Return whether a file of code is the user's own.

    Files of Python and of installed packages are not, nor is code that AutoGraph generates.
    """
    return (
        not file.startswith("<")
        # What AutoGraph makes of the user's code, while it is traced.
        and "__autograph_generated_file" not in file
        and not (os.path.abspath(file) + os.sep).startswith(_LIBRARY)
        and ("site-packages" not in file and "dist-packages" not in file)
    )


def is_users_thread(thread: threading.Thread) -> bool:
    """Return whether the user's program started a thread, not TensorFlow or Keras."""
    kind = type(thread)
    return kind.__name__ != "_DummyThread" and kind.__module__.split(".")[0] not in ("tensorflow", "keras")


def frame_of(thread: int) -> FrameType | None:
    """Return the frame that a thread is executing, or None where the thread has ended.

    The garbage collector is held off meanwhile: Python holds a lock of its own while it makes the answer, and up to
    3.12 a collection that begins there, and clears what is local to a thread, waits for the same lock for ever.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return sys._current_frames().get(thread)  # noqa: SLF001 - the documented way to a thread's stack
    finally:
        if collects:
            gc.enable()


def user_place() -> str | None:
    """Return the innermost place in the user's code on this thread's stack."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the way to the caller without building a whole stack
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return None


def describe_stack(frame: FrameType | None) -> tuple[str, str, str]:
    """Return the function at work on a stack, its place, and its present library call.

    The function is the innermost of the user's own code, or a method of a Keras callback, named by its class. Each is
    empty where there is none.
    """
    called = users = name = ""
    for _ in range(DEPTH):
        if frame is None:
            break
        code = frame.f_code
        file = code.co_filename
        if code.co_name.startswith(("on_train_", "on_epoch_", "on_test_", "on_batch_")):
            owner = type(frame.f_locals.get("self")).__name__
            if owner not in ("CallbackList", "NoneType"):
                return f"{owner}.{code.co_name}", users or (place_of(frame) if is_users(file) else ""), called
        if is_users(file) and not users:
            users, name = place_of(frame), code.co_name
        elif not users and not file.startswith(_OWN):
            module = str(frame.f_globals.get("__name__", ""))
            called = module and f"{module}.{getattr(code, 'co_qualname', code.co_name)}"
        frame = frame.f_back
    return name, users, called


def place_of(frame: FrameType) -> str:
    """Return the file and line of a frame as `file:line`."""
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
