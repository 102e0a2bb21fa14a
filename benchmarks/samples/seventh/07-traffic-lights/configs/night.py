"""Darker pictures, a wider net and a slower rate."""
from configs.day import data, epochs, seed  # noqa: F401

data = {**data, "brightness": 0.35}

model = dict(
    kind="small_conv",
    args=dict(width=12, depth=2, dropout=0.2),
)

optimizer = dict(
    name="SGD",
    args=dict(learning_rate=1e-2, momentum=0.9, nesterov=True),
)
