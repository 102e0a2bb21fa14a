#!/bin/sh
set -e
python bridge.py config=steel.yaml fit.rate=2e-3
python bridge.py config=steel.yaml fit.epoch=5 beam.sensors=8
