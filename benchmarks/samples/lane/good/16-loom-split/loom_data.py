import numpy as np

DEFECTS = ["broken end", "float", "stain", "knot", "clean"]


def fabric_patches(per_kind=80, seed=30):
    """Patches read folder by folder, one folder for each kind of defect."""
    rng = np.random.default_rng(seed)
    images, labels = [], []
    for kind, _ in enumerate(DEFECTS):
        for _ in range(per_kind):
            patch = rng.normal(0, 0.4, (14, 14, 1))
            patch[2 * kind:2 * kind + 4, :, 0] += 0.9
            images.append(patch)
            labels.append(kind)
    return np.array(images, dtype="float32"), np.array(labels, dtype="int32")
