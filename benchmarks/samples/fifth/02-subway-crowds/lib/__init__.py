from .config import Config, load
