#!/bin/sh
set -e
python train.py optim=sgd train.epoch=5 train.batch_size=24 +train.save_to=parcels.keras
