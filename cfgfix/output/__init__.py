"""Reports for people and for machines: a report in, text out. Nothing here prints."""
