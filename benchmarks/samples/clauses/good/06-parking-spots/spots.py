import cv2
import numpy as np
from tensorflow.keras.models import load_model

classifier = load_model("spots.keras")


def cut(frame, boxes):
    for x, y, w, h in boxes:
        patch = cv2.resize(frame[y : y + h, x : x + w], (48, 48)) / 255.0
        yield patch


def free_spots(frame, boxes):
    patches = np.stack(list(cut(frame, boxes)))
    return int((classifier.predict(patches)[:, 0] > 0.5).sum())


if __name__ == "__main__":
    boxes = [tuple(map(int, line.split(","))) for line in open("boxes.csv")]
    print(free_spots(cv2.imread("lot.png"), boxes), "of", len(boxes))
