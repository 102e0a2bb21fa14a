"""What everything else rests on: findings, edits, files, suppressions, the baseline and the cache."""
