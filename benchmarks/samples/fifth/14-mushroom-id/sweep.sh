#!/bin/bash
python identify.py epochs=3 model=wide +callbacks.csv._target_=keras.callbacks.CSVLogger +callbacks.csv.filename=/tmp/mushrooms.csv
python identify.py optim=sgd rate=1e-1 data.specimen=50
