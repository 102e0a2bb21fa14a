import argparse

import numpy as np
from tensorflow import keras

from lab import cfg as settings
from lab.agent import Agent

parser = argparse.ArgumentParser()
parser.add_argument("--config", default="grasp.json")


def main():
    cfg = settings.read(parser.parse_args().config)
    keras.utils.set_random_seed(1)
    agent = Agent(cfg)
    rng = np.random.default_rng(1)
    print("training", cfg.robot.name)
    for _ in range(cfg.ppo.updates):
        states = rng.normal(size=(cfg.ppo.steps, 2 * cfg.robot.joints)).astype("float32")
        probs = agent.net(states).numpy()
        actions = rng.integers(0, 3, cfg.ppo.steps)
        old = probs[np.arange(cfg.ppo.steps), actions]
        adv = agent.advantages(100 * rng.normal(size=cfg.ppo.steps), rng.normal(size=cfg.ppo.steps))
        print("loss", float(agent.update(states, actions, old, adv)))
    print("sum", float(sum(abs(w).sum() for w in agent.net.get_weights())))


if __name__ == "__main__":
    main()
