import json
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import tensorflow as tf

from settings import MODEL_PATH, MAX_LEN, VOCAB

tf.config.threading.set_inter_op_parallelism_threads(2)


def encode(text):
    ids = [(hash_word(w) % (VOCAB - 1)) + 1 for w in text.lower().split()][:MAX_LEN]
    return np.pad(ids, (0, MAX_LEN - len(ids))).astype("int32")


def hash_word(w):
    # python's hash() is salted per process
    h = 0
    for ch in w:
        h = (h * 31 + ord(ch)) & 0xFFFFFFFF
    return h


class ReviewHandler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        batch = np.stack([encode(t) for t in body["texts"]])
        out = self.server.model(batch, training=False).numpy()[:, 0]
        payload = json.dumps({"scores": [float(s) for s in out]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *args):
        pass


def export_model():
    inp = tf.keras.Input((MAX_LEN,), dtype="int32")
    h = tf.keras.layers.Embedding(VOCAB, 16)(inp)
    h = tf.keras.layers.GlobalAveragePooling1D()(h)
    out = tf.keras.layers.Dense(1, activation="sigmoid")(h)
    tf.keras.Model(inp, out).save(MODEL_PATH)


def post(port, texts):
    req = urllib.request.Request(f"http://127.0.0.1:{port}/", json.dumps({"texts": texts}).encode(),
                                 {"Content-Type": "application/json"})
    return json.loads(urllib.request.urlopen(req).read())


if __name__ == "__main__":
    export_model()
    server = HTTPServer(("127.0.0.1", 0), ReviewHandler)
    server.model = tf.keras.models.load_model(MODEL_PATH)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    t0 = time.time()
    for i in range(60):
        res = post(server.server_port, ["great soup and kind staff", "cold food never again"])
    print("60 requests %.2fs" % (time.time() - t0), res)
    server.shutdown()
