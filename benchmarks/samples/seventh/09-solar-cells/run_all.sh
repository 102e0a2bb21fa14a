#!/bin/bash
set -e
for name in base wide slow; do
    python train.py "$name" | tee "log-$name.txt"
done
