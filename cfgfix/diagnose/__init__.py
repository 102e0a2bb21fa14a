"""One answer before a long run: whether this machine, this config and this pipeline are fit (extra `tf`)."""
