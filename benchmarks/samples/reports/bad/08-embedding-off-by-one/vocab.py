from collections import Counter


def word_index(sentences):
    counts = Counter(w for s in sentences for w in s.split())
    return {w: i for i, (w, _) in enumerate(counts.most_common(), start=1)}


def encode(sentences, index, length):
    rows = []
    for s in sentences:
        ids = [index[w] for w in s.split() if w in index][:length]
        rows.append(ids + [0] * (length - len(ids)))
    return rows
