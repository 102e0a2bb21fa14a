import json
import os
import socket


def free_port():
    with socket.socket() as s:
        s.bind(("localhost", 0))
        return s.getsockname()[1]


def hosts():
    """Comma separated host:port list from the scheduler, or one local worker."""
    env = os.environ.get("QUARRY_HOSTS")
    return env.split(",") if env else [f"localhost:{free_port()}"]


def export_tf_config():
    os.environ["TF_CONFIG"] = json.dumps({
        "cluster": {"worker": hosts()},
        "task": {"type": "worker", "index": int(os.environ.get("QUARRY_RANK", 0))},
    })
