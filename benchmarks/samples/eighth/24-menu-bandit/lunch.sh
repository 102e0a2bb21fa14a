#!/bin/sh
python bandit.py @lunch.args
python bandit.py @lunch.args --rounds 80 --eager=1 --monitor=loss
