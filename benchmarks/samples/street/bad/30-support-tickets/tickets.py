import numpy as np

QUEUES = ("billing", "network", "device")
WORDS = (
    "invoice charge refund payment overdue discount tariff".split(),
    "signal tower roaming outage coverage latency dropped".split(),
    "screen battery cracked button charger speaker restart".split(),
)
COMMON = "please help since yesterday my the and still again customer called about".split()


def tickets(n, seed, mix=(1, 1, 1)):
    rng = np.random.default_rng(seed)
    share = np.array(mix, dtype=float) / sum(mix)
    queue = rng.choice(len(QUEUES), n, p=share)
    texts = []
    for q in queue:
        words = list(rng.choice(WORDS[q], 4)) + list(rng.choice(COMMON, 6))
        rng.shuffle(words)
        texts.append(" ".join(words))
    return texts, queue.astype("int64")
