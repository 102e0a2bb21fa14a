"""Checkpoints that a manager never saves: TFF193 over the ways in which people write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

PAST = """\
import tensorflow as tf
from tensorflow.train import CheckpointManager


def train(model, optimizer, keep=True):
    state = tf.train.Checkpoint(model=model, optimizer=optimizer)
    latest = CheckpointManager(state, directory="a", max_to_keep=1)
    if latest.latest_checkpoint:
        state.restore(latest.latest_checkpoint)
    for epoch in range(9):
        if keep:
            path = state.save("a/epoch")  # found
            print(epoch, path)


train(tf.Module(), None)
"""
SAVED = """\
import tensorflow as tf


class Run:
    def __init__(self):
        self.state = tf.train.Checkpoint()
        self.manager = tf.train.CheckpointManager(self.state, "a", max_to_keep=2)
        self.others = {"b": tf.train.CheckpointManager(self.state, "b", max_to_keep=2)}

    def end(self):
        self.state.save("c/last")


def finish(run):
    run.manager.save()


run = Run()
run.end()
finish(run)
"""


@pytest.mark.parametrize("text", [PAST, SAVED], ids=["past", "saved"])
def test_managers_that_never_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Tell a save past the manager, and leave alone managers that something uses."""
    check_marked(tmp_path, monkeypatch, "TFF193", text)
