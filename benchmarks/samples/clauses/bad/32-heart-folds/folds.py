import numpy as np
from nets import build
from sklearn.model_selection import StratifiedKFold

x = np.random.rand(800, 13)
y = (x[:, 0] > 0.5).astype("int32")
scores = []
for repeat in range(20):
    for train, test in StratifiedKFold(10, shuffle=True, random_state=repeat).split(x, y):
        net = build(x.shape[1])
        net.fit(x[train], y[train], epochs=20, verbose=0)
        scores.append(net.evaluate(x[test], y[test], verbose=0)[1])
print(np.mean(scores))
