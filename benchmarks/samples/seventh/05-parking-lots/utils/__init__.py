from utils.config import load_config  # noqa: F401
