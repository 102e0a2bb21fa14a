SEED = 4

# corpus
RECIPES = 64
TOKENS = 400
MAX_LEN = 12
TAGS = ["vegan", "baking", "soup", "quick", "spicy", "festive"]

# network
VOCAB_SIZE = 200
EMBED_DIM = 16
HIDDEN = [32]
HEAD_ACTIVATION = "sigmoid"
MIXED_PRECISION = True

# fitting
LOSS = "binary_crossentropy"
METRICS = ["binary_accuracy"]
OPTIMIZER = "adam"
LEARNING_RATE = 1e-3
LR_DECAY = 0.96
BATCH_SIZE = 16
EPOCHS = 2
