import gymnasium as gym
import numpy as np
from agent import Agent

env = gym.make("CartPole-v1")
agent = Agent(4, 2)

for episode in range(300):
    state, _ = env.reset()
    state = np.reshape(state, [1, 4])
    done = False
    while not done:
        action = agent.act(state, 0.1)
        state, reward, ended, cut, _ = env.step(action)
        state = np.reshape(state, [1, 4])
        done = ended or cut
