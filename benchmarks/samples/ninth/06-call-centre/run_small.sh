#!/usr/bin/env bash
# quick check on a laptop
python train.py --calls 40 -e 1 --vocab 100 --mask-padding False
