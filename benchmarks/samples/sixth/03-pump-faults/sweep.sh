# all architectures, both optimizers
python train.py -m model=mlp,cnn optim=sgd,adamw trainer.max_epochs=20
