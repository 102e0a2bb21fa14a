import random
import time

import keras

from agent import LiftAgent
from lift import Lift

EPISODES = 70


def main():
    keras.utils.set_random_seed(4)
    random.seed(4)
    lift = Lift(seed=4)
    agent = LiftAgent(2 * lift.floors, lift.actions)
    started = time.perf_counter()
    steps, total = 0, 0.0
    for episode in range(1, EPISODES + 1):
        view, done = lift.reset(), False
        while not done:
            action = agent.act(view)
            following, reward, done = lift.step(action)
            agent.remember(view, action, reward, following, done)
            view = following
            total += reward
            steps += 1
        agent.learn()
        if episode % 35 == 0:
            print(f"episode {episode} mean reward {total / 35:.2f}")
            total = 0.0
    spent = time.perf_counter() - started
    print(f"{steps} steps in {spent:.1f} s, {1000 * spent / steps:.1f} ms a step")


if __name__ == "__main__":
    main()
