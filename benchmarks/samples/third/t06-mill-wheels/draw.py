# old: for the computer in the mill, which has Python 2
import yaml
import pylab

setup = yaml.load(open("setups/upper.yaml"))
if setup["plots"]:
    print "drawing", setup["wheel"]["blades"], "blades"
    pylab.plot(range(setup["wheel"]["blades"]))
    pylab.show()
