CONFIG = {
    "features": 120,
    "informative": 4,
    "samples": 160,
    "l1": 2e-2,
    "rate": 5e-3,
    "epochs": 60,
    "batch": 32,
    "seed": 9,
}
