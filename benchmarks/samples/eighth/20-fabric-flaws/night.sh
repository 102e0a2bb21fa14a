#!/bin/bash
# two passes over the night's rolls, the second with a smaller rate
python inspect_fabric.py --epochs=1
python inspect_fabric.py --epochs=1 --learning_rate=0.0005
