#!/usr/bin/env bash
set -e
python train.py model.depth=3
python train.py model.depth=3 trainer.epochs=5
python train.py model.depth=2 optim.learning_rate=0.01
