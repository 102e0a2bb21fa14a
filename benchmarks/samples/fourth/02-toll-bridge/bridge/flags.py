"""All flags of the toll bridge programs."""
from absl import flags

flags.DEFINE_integer("hour", 8, "Hour of the day.", lower_bound=0, upper_bound=23)
flags.DEFINE_integer("lanes", 3, "Number of lanes.")
flags.DEFINE_float("rate", 1e-2, "Learning rate.")
flags.DEFINE_float("weight_decay", 0.0, "Weight decay of AdamW.")
flags.DEFINE_float("epochs", 2.0, "Passes over the data.")
flags.DEFINE_string("loss", "mean_sqared_error", "Name of the loss.")
flags.DEFINE_enum("body", "dense", ["dense", "gru"], "Kind of network.")
flags.DEFINE_bool("coins", True, "Add noise for cars that pay in coins.")
flags.DEFINE_string("activation", "relu", "Activation of the hidden layer.")
flags.DEFINE_integer("steps", None, "Steps an epoch; all if not given.")
flags.DEFINE_float("grad_clip", 1.0, "Clip the norm of gradients.")
flags.DEFINE_string("log_dir_name", "", "Folder for TensorBoard; none if empty.")

FLAGS = flags.FLAGS
