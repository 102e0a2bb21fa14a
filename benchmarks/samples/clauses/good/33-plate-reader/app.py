import numpy as np
from flask import Flask, jsonify, request
from PIL import Image
from tensorflow import keras

app = Flask(__name__)
model = keras.models.load_model("plates.keras")


def read_plate(picture):
    rows = np.asarray(picture.resize((128, 32)), "float32")[None] / 255.0
    return model(rows).numpy().argmax(-1)[0].tolist()


@app.route("/plate", methods=["POST"])
def plate():
    picture = Image.open(request.files["picture"].stream).convert("RGB")
    return jsonify(plate=read_plate(picture))


if __name__ == "__main__":
    app.run(port=8080)
