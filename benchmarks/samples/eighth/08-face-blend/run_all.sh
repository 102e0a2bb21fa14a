#!/bin/sh
# plain run
python train.py --name plain --epochs 2

# the three variants of the report
python train.py --name lsgan --loss lsgan
python train.py --name nobn --use_bn False --batch-size 16
python train.py --name small --image_size 28 --loss hinge
python train.py --name smooth --label_smoothing 0.8
