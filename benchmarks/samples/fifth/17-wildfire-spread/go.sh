python fire_main.py --config dry.yaml
python fire_main.py --config=wet.yaml --noresidual
python fire_main.py --flagfile=night.flags
