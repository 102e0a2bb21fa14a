import json
import os

HOSTS = ["node1:2222", "node2:2222", "node3:2222"]


def announce(index):
    cluster = {"chief": ["node0:2222"], "worker": HOSTS}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
