import random

WORDS = {
    "bill": "invoice amount due payment account number iban total tax order".split(),
    "spam": "winner free offer click prize casino cheap pills limited now".split(),
    "friend": "hello dinner weekend hiking photos birthday kids see you soon".split(),
}


def read_mails(tags, n=96, seed=0):
    rng = random.Random(seed)
    mails, labels = [], []
    for i in range(n):
        tag = tags[i % len(tags)]
        mails.append(" ".join(rng.choice(WORDS[tag]) for _ in range(rng.randint(4, 12))))
        labels.append(i % len(tags))
    return mails, labels
