#!/bin/sh
# sweep over rates
for lr in 0.1 0.03 0.01; do
  python main.py --config=configs/default.py --config.optim.lr=$lr --config.num_epochs=30
done
