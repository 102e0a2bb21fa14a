#!/usr/bin/env bash
set -euo pipefail
LR=${LR:-5e-4}
python train.py \
    --calls 200 \
    --epochs 4 \
    --lr "$LR" \
    --pooling attention \
    --dropout 0.5 \
    --warmup-steps 100 \
    --save calls.keras
