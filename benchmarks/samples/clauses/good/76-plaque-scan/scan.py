import numpy as np
from body import freeze, network

x = np.random.rand(200, 7)
net = network(7)
net.fit(x, x.sum(1), epochs=2)
freeze(net)
net.fit(x, x.max(1), epochs=2)
