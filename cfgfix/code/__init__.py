"""Python source: read, summarised, linked and judged, but never imported or executed."""
