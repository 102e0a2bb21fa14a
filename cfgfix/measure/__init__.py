"""Instruments: what the data pipeline, the step and the devices really do, measured on the user's own code (extra `tf`)."""
