#!/bin/sh
# every crust once
python bake.py rounds=3
python bake.py crust=pale steam.level=0.2
python bake.py optimizer=adam
python bake.py crust=golden
python bake.py +crust.salt=0.3 'steam.minutes=20'
