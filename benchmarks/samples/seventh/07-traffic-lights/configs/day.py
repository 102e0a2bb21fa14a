"""Daylight model: the settings that all others start from."""

data = dict(
    side=16,
    samples=96,
    val_samples=32,
    batch_size=16,
    brightness=1.0,
)

model = dict(
    kind="small_conv",
    args=dict(width=8, depth=2, dropout=0.1),
)

optimizer = dict(name="Adam", args=dict(learning_rate=2e-3))

epochs = 2
seed = 40
