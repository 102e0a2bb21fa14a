import numpy as np
import tensorflow as tf
from losses import focal, l2_penalty

tf.random.set_seed(0)
rng = np.random.default_rng(0)
n = 800
X = rng.normal(size=(n, 12)).astype("float32")
Y = (X[:, 0] * X[:, 1] > 0.8).astype("int32")[:, None]

inputs = tf.keras.Input((12,))
h = tf.keras.layers.Dense(32, activation="gelu")(inputs)
h = tf.keras.layers.Dense(32, activation="gelu")(h)
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(h))

train_ds = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(n).batch(50)
optimizer = tf.keras.optimizers.AdamW(2e-3, weight_decay=0.0)
train_loss = tf.keras.metrics.Mean()
train_auc = tf.keras.metrics.AUC(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = focal(y, logits) + l2_penalty(model)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_loss.update_state(loss)
    train_auc.update_state(y, logits)


for epoch in range(4):
    train_loss.reset_state()
    train_auc.reset_state()
    for x, y in train_ds:
        train_step(x, y)
    print("Epoch {} loss {:.4f} auc {:.3f}".format(epoch + 1, train_loss.result(), train_auc.result()))
