#!/bin/sh
for n in 2 3; do
  python fans.py --set fans=$n "push={learning_rate: 0.01}" seed=$n
done
