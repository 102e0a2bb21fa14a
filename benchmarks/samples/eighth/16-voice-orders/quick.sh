# a short run to see that everything works
python train.py --epochs 1 --lr 0.01
