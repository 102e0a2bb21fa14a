"""Instruments: the data pipeline, the step and the devices, timed."""
