import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Conv2D, Input

field = np.random.rand(40, 16, 16, 3).astype("float32")
water = (field[..., :1] > 0.6).astype("float32")

inp = Input((16, 16, 3))
out = Conv2D(1, 1, activation="sigmoid")(Conv2D(8, 3, padding="same", activation="relu")(inp))
seg = tf.keras.Model(inp, out)
seg.compile(
    optimizer=tf.keras.optimizers.Adam(0.03),
    loss=tf.keras.losses.BinaryCrossentropy(),
    metrics=["accuracy", tf.keras.metrics.BinaryIoU(target_class_ids=[0, 1], threshold=0.5, name="iou")],
)
seg.fit(field, water, epochs=15, verbose=0)
score = tf.keras.metrics.MeanIoU(num_classes=2)
score.update_state(water, seg.predict(field, verbose=0) > 0.5)
print(float(score.result()))
print(seg.evaluate(field, water, return_dict=True, verbose=0))
