"""Write the best recipes of every user to a file."""
import json
import os

import numpy as np

import settings
from towers import build_ranker


def main():
    data = settings.DATA
    model = build_ranker(data["n_users"], data["n_recipes"], settings.MODEL)
    if os.path.exists(settings.CHECKPOINT):
        model.load_weights(settings.CHECKPOINT)
    recipes = np.arange(data["n_recipes"])
    best = {}
    for user in range(data["n_users"]):
        scores = model([np.full_like(recipes, user), recipes]).numpy().ravel()
        best[user] = np.argsort(-scores)[:settings.TOP_K].tolist()
    os.makedirs(settings.EXPORT_PATH, exist_ok=True)
    with open(os.path.join(settings.EXPORT_PATH, "best.json"), "w") as f:
        json.dump(best, f)
    print("users", len(best))


if __name__ == "__main__":
    main()
