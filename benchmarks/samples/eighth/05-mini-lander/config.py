"""All knobs of the agent."""

SEED = 0

# environment
OBS_DIM = 4
NUM_ACTIONS = 3
MAX_EPISODE_STEPS = 40
EPISODES = 6

# network
HIDDEN_UNITS = 32
ACTIVATION = "relu"

# replay
BUFFER_SIZE = 24
BATCH_SIZE = 32

# learning
OPTIMIZER = "RMSprop"
LEARNING_RATE = 1e-3
LOSS = "huber"
GAMMA = 0.99
GRAD_CLIP = 10.0
TARGET_UPDATE_EVERY = 1000

# exploration
EPS_START = 1.0
EPS_END = 0.05
EPS_DECAY = 0.5
