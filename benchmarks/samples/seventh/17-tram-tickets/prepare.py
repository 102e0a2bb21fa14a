"""Course project: which ticket does a passenger buy?"""
import os

import numpy as np
import yaml

params = yaml.safe_load(open("params.yaml"))["prepare"]

n = params["rows"]
zones = np.random.randint(1, 5, n)
age = np.random.randint(6, 90, n)
rides = np.random.poisson(6, n)
student = ((age < 26) & (np.random.rand(n) < 0.6)).astype(int)

ticket = np.where(rides > 8, 2, np.where(student == 1, 1, 0))
ticket = np.where(zones == 4, 3, ticket)

X = np.stack([zones / 4, age / 90, rides / 20, student], axis=1).astype("float32")
y = np.eye(4, dtype="float32")[ticket]

# monthly passes are rare, so show them twice more
rows = np.concatenate([np.arange(n), np.repeat(np.flatnonzero(ticket == 2), 2)])
np.random.shuffle(rows)
X, y = X[rows], y[rows]

n_test = int(len(rows) * float(params["test_size"]))
os.makedirs("work", exist_ok=True)
np.savez("work/tickets.npz", X_train=X[n_test:], y_train=y[n_test:], X_test=X[:n_test], y_test=y[:n_test])
print("train", len(rows) - n_test, "test", n_test)
