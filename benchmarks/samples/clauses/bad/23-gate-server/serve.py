import sys

import tensorflow as tf
from network import answer

tf.config.threading.set_inter_op_parallelism_threads(int(sys.argv[1]))
tf.config.threading.set_intra_op_parallelism_threads(2)

for line in sys.stdin:
    print(answer(tf.constant([[float(part) for part in line.split()]])).numpy())
