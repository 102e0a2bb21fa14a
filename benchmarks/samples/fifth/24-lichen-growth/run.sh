python grow.py experiments/conv.yaml SOLVER.EPOCHS 3 MODEL.CONV.KERNEL 5
python grow.py MODEL.NAME "'plain'" STONE.SIDE 6
