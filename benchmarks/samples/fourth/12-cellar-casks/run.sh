#!/usr/bin/env bash
python -m casks --conf casks.yaml train.sips=3
python -m casks --conf casks.yaml cask.wood=ash
python -m casks --conf casks.yaml train.sip=4
