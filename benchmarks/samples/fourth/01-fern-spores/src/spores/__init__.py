from . import heads_bars, heads_disc  # noqa: F401  (they register themselves)
