import numpy as np
import tensorflow as tf

from model import build
from task import START, STEPS, pairs, teacher_inputs

tf.keras.utils.set_random_seed(7)


def greedy(model, source):
    given = np.full((len(source), 1), START, "int32")
    for _ in range(STEPS):
        logits = model({"source": source, "given": given}, training=False)
        step = tf.argmax(logits[:, -1], axis=-1, output_type=tf.int32).numpy()
        given = np.concatenate([given, step[:, None]], axis=1)
    return given[:, 1:]


source, target = pairs(3000, 1)
model = build()
model.compile(tf.keras.optimizers.Adam(1e-2),
              tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=["accuracy"])
history = model.fit({"source": source, "given": teacher_inputs(target)}, target,
                    batch_size=100, epochs=12, verbose=0)
print("training accuracy", round(history.history["accuracy"][-1], 3))

test_source, test_target = pairs(200, 2)
decoded = greedy(model, test_source)
print("decoded symbols right", round(float((decoded == test_target).mean()), 3))
