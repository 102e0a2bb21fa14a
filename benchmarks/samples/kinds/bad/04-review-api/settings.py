import os
import tempfile

MODEL_PATH = os.path.join(tempfile.gettempdir(), "review_scorer.keras")
MAX_LEN = 24
VOCAB = 5000
