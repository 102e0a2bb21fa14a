import random

SAVOURY = "onion garlic pepper broth lentil thyme leek barley mustard".split()
SWEET = "sugar vanilla butter cocoa berry cream honey almond pear".split()
COMMON = "mix stir bake slowly warm bowl add pinch until done serve".split()


def recipes(n=300, seed=1):
    rnd = random.Random(seed)
    lines, tags = [], []
    for _ in range(n):
        tag = rnd.randint(0, 1)
        pool = (SWEET if tag else SAVOURY) + COMMON
        lines.append(" ".join(rnd.choice(pool) for _ in range(rnd.randint(6, 14))))
        tags.append(tag)
    return lines, tags
