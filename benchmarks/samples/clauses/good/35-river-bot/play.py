import random

from bot import Bot

bot = Bot(4, 3)
state = [0.0, 0.0, 0.0, 0.0]
for turn in range(10000):
    action = bot.act(state)
    state = [part + random.gauss(0, 0.1) + action for part in state]
