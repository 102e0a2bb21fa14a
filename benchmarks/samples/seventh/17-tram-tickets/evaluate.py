import json

import numpy as np
import tensorflow as tf

data = np.load("work/tickets.npz")
model = tf.keras.models.load_model("work/ticket_model.keras")
loss, accuracy = model.evaluate(data["X_test"], data["y_test"], verbose=0)
with open("work/scores.json", "w") as f:
    json.dump({"loss": loss, "accuracy": accuracy}, f)
print("loss", loss, "accuracy", accuracy)
