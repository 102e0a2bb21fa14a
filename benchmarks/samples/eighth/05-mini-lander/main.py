import tensorflow as tf

import config as C
from agent import Agent
from env import MiniLander


def main():
    agent = Agent()
    tf.keras.utils.set_random_seed(C.SEED)
    env = MiniLander(C.MAX_EPISODE_STEPS, C.SEED)
    for _ in range(C.EPISODES):
        obs, done, total = env.reset(), False, 0.0
        while not done:
            action = agent.act(obs)
            nxt, reward, done = env.step(action)
            agent.memory.append((obs, action, reward, nxt, done))
            agent.learn()
            obs, total = nxt, total + reward
        agent.epsilon = max(C.EPS_END, agent.epsilon * C.EPS_DECAY)
    print("return %.4f epsilon %.4f updates %d syncs %d q %.5f"
          % (total, agent.epsilon, agent.updates, agent.syncs, float(tf.reduce_max(agent.q(obs[None])))))


if __name__ == "__main__":
    main()
