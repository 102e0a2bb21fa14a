"""Work that the threads of a pool do under one lock: TFD042 over the ways in which people write it."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked import check_marked

LOCKS = """\
import threading
from concurrent import futures
from multiprocessing.pool import ThreadPool
import sentencepiece as spm
import tensorflow as tf
from transformers import AutoTokenizer

LOCK = threading.RLock()
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
sp = spm.SentencePieceProcessor(model_file="a.model")


def tokenise(text):
    with LOCK:
        return tokenizer(text, padding="max_length")["input_ids"]  # found


def pieces(text):
    with LOCK:
        ids = sp.EncodeAsIds(text)  # found
    return ids


def outside(text):
    ids = sp.encode(text)
    with LOCK:
        SEEN.append(text)
        SEEN.add(text.encode("utf-8"))
    return ids


def encoded(text):
    return tokenizer.encode_plus(text)


def by_a_function(text):
    with LOCK:
        return encoded(text)  # found


def alone(text):
    with LOCK:
        return tokenizer.encode(text)


SEEN = []
ds = tf.data.Dataset.from_tensor_slices(["a", "b"])
ds = ds.map(lambda t: tf.py_function(tokenise, [t], tf.int32), num_parallel_calls=tf.data.AUTOTUNE)
with futures.ThreadPoolExecutor(max_workers=8) as pool:
    rows = [pool.submit(pieces, t) for t in ["a"]]
    more = list(pool.map(outside, ["a"]))
with ThreadPool(8) as threads:
    rows = threads.map(by_a_function, ["a"])
print(alone("a"))
"""


def test_work_under_a_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_marked(tmp_path, monkeypatch, "TFD042", LOCKS)
