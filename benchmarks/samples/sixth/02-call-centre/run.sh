#!/usr/bin/env bash
# nightly job
set -e
python run.py --config=configs/base.json --batchsize=32 --train_steps=400
