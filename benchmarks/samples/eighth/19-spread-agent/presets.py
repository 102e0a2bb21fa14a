from dataclasses import dataclass, replace


@dataclass(frozen=True)
class PPOConfig:
    obs_dim: int = 5
    hidden: tuple = (32, 32)
    activations: tuple = ("tanh", "tanh")
    n_envs: int = 4
    horizon: int = 16
    updates: int = 5
    epochs: int = 2
    minibatches: int = 4
    discount: float = 0.99
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    value_coef: float = 0.5
    entropy_coef: float = 0.01
    normalize_advantage: bool = True
    learning_rate: float = 3e-4
    decay_steps: int = 1000


fast = PPOConfig(
    obs_dim=5,
    activations=("tanh", "relu", "elu"),
    n_envs=3,
    minibatches=5,
    discount=99,
    entropy_coef=0.02,
    decay_steps=8,
)

long = replace(fast, updates=20, minibatch=8)

PRESETS = {"fast": fast, "long": long}
