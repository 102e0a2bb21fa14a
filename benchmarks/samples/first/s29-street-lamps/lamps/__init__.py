from .engine import Engine
from .pipeline import Pipeline

__all__ = ["Engine", "Pipeline"]
