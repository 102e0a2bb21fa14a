#!/bin/sh
set -e
for width in 4 8; do
    python bales.py net.width=$width "fit.rounds=3" optim.learning_rate=5e-3
done
