import os

if os.environ.get("RECIPES_ENV") == "ci":
    from .base import *  # noqa: F401,F403
else:
    from .local import *  # noqa: F401,F403
