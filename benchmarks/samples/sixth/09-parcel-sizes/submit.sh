#!/bin/bash
part=$(jq -r .slurm.partition config.json)
hours=$(jq -r .slurm.hours config.json)
sbatch -p "$part" -t "$hours:00:00" --wrap "python train.py"
