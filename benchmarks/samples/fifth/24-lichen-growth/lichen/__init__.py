from .defaults import get_defaults
from .node import Node
