import queue
import threading

import sentencepiece
import tensorflow as tf


class Feed:
    def __init__(self, lines, model, workers=4):
        self.lines = iter(lines)
        self.lock = threading.Lock()
        self.done = queue.Queue(maxsize=1000)
        self.pieces = sentencepiece.SentencePieceProcessor(model_file=model)
        self.threads = [threading.Thread(target=self._work, daemon=True) for _ in range(workers)]

    def _work(self):
        while True:
            with self.lock:
                line = next(self.lines, None)
            ids = None if line is None else self.pieces.encode(line)[:256]
            self.done.put(ids)
            if ids is None:
                return

    def rows(self):
        for thread in self.threads:
            thread.start()
        while (ids := self.done.get()) is not None:
            yield ids
