import click
import numpy as np
import tensorflow as tf

from market import Market
from ppo import PPO
from presets import PRESETS


@click.command()
@click.option("--preset", type=click.Choice(list(PRESETS)), default="fast")
@click.option("--seed", default=0)
def main(preset, seed):
    cfg = PRESETS[preset]
    tf.keras.utils.set_random_seed(seed)
    market = Market(cfg.n_envs, seed)
    agent = PPO(cfg, market.n_actions)
    obs = market.reset()
    for _ in range(cfg.updates):
        track = {"obs": [], "act": [], "logp": [], "val": [], "rew": []}
        for _ in range(cfg.horizon):
            action, logp, value = agent.policy(obs)
            track["obs"].append(obs)
            track["act"].append(action.numpy())
            track["logp"].append(tf.gather(logp, action, axis=1, batch_dims=1).numpy())
            track["val"].append(value.numpy())
            obs, reward = market.step(action.numpy())
            track["rew"].append(reward)
        t = {k: np.array(v) for k, v in track.items()}
        adv = agent.advantages(t["rew"], t["val"], agent.policy(obs)[2].numpy())
        flat = {k: v.reshape(-1, *v.shape[2:]) for k, v in t.items()}
        loss = agent.update(flat["obs"], flat["act"], flat["logp"], adv.ravel(), (adv + t["val"]).ravel())
    click.echo(f"loss {loss:.5f} reward {t['rew'].mean():.5f}")


if __name__ == "__main__":
    main()
