"""Files of other tools with words and values of training in them, and what must stay true of them."""

from __future__ import annotations

import importlib.util
import json
from importlib import resources

FOREIGN = {
    ".github/workflows/train.yml": """\
name: train
on:
  push: {branches: [main]}
env:
  LR: 1e-3
  BATCH_SIZE: 010
jobs:
  train:
    runs-on: ubuntu-latest
    env: {learning_rate: 1e-3, epochs: 1_0, verbose: yes}
    steps:
      - uses: actions/checkout@v4
      - run: python train.py --lr $LR
""",
    "docker-compose.yml": """\
services:
  trainer:
    image: example/trainer:1.10
    restart: no
    environment:
      - VERBOSE=yes
      - LR=1e-3
      - yes
    ports: ["6006:6006", 22:22]
    deploy: {replicas: 2}
  board:
    image: tensorflow/tensorflow
    restart: on-failure
    environment: {learning_rate: 1e-3, batch_size: 32, epochs: 3, mixed_precision: yes}
""",
    "deploy/job.yaml": """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: example/trainer
          env:
            - {name: LR, value: 1e-3}
            - {name: VERBOSE, value: yes}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: params}
data: {batch_size: "32", learning_rate: 1e-3, epochs: "3", num_workers: 4, restart: no}
""",
    "environment.yml": """\
name: trainer
channels: [conda-forge]
dependencies:
  - python=3.10
  - tensorflow
  - pip: [keras-tuner]
variables: {LR: 1e-3, DEBUG: no}
""",
    "mkdocs.yml": """\
site_name: Trainer
nav: [{Home: index.md}]
extra: {learning_rate: 1e-3, on: yes}
""",
    "docs/_data/navigation.yml": """\
- title: Training
  url: /training
  open: yes
- title: Learning rate
  url: /1e-3
""",
    "api/openapi.yaml": """\
openapi: 3.0.3
info: {title: Trainer, version: 1.10}
paths:
  /train:
    post:
      parameters: [{name: learning_rate, in: query, schema: {type: number, example: 1e-3}}]
      responses: {"200": {description: ok}}
components:
  schemas:
    Run: {type: object, properties: {batch_size: {type: integer, default: 010}, resume: {default: no}}}
""",
    "locale/nb.yml": """\
nb:
  yes: Ja
  no: Nei
  training: {epochs: Epoker, learning_rate: Læringsrate, batch_size: Bunkestørrelse}
""",
    "ansible/site.yml": """\
- name: train
  hosts: gpus
  become: yes
  vars: {learning_rate: 1e-3, batch_size: 32, epochs: 010}
  tasks:
    - {name: run, command: python train.py, environment: {LR: 1e-3}}
""",
    "chart/Chart.yaml": """\
apiVersion: v2
name: trainer
version: 1.10
""",
    "chart/values.yaml": """\
replicaCount: 1
image: {repository: example/trainer, tag: 1.10}
restartPolicy: no
env: [{name: LR, value: 1e-3}, {name: VERBOSE, value: yes}]
resources: {limits: {memory: 1e3}}
""",
    "docs/_config.yml": """\
title: Trainer
theme: minima
show_excerpts: no
permalink: 1e-3
""",
    "dataset_card.yaml": """\
license: mit
language: [en, no]
task_categories: [image-classification]
dataset_info: {features: [{name: learning_rate, dtype: float32}], splits: [{name: train, num_examples: 1e3}]}
""",
}


def lay(folder, files=FOREIGN):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def held(folder, files=FOREIGN):
    return {name: (folder / name).read_bytes() for name in files}


def compose_problems(text):
    """Return what Compose would refuse: it reads plain `yes` and `no` as texts, and wants texts, lists and mappings."""
    from ruamel.yaml import YAML

    services = YAML(typ="safe", pure=True).load(text)["services"]
    return [
        f"{name}.{key}"
        for name, service in services.items()
        for key, kinds in (("restart", str), ("image", str), ("environment", (list, dict)), ("ports", list))
        if key in service and not isinstance(service[key], kinds)
    ] + [
        f"{name}.environment"
        for name, service in services.items()
        if isinstance(service.get("environment"), list)
        and not all(isinstance(item, str) for item in service["environment"])
    ]


def published_compose_problems(text):
    """Return what the schema of the Compose specification refuses; None where the package that holds it is absent."""
    if importlib.util.find_spec("check_jsonschema") is None:
        return None
    from jsonschema.validators import validator_for
    from ruamel.yaml import YAML

    place = resources.files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
    schema = json.loads(place.read_text(encoding="utf-8"))
    data = YAML(typ="safe", pure=True).load(text)
    errors = validator_for(schema)(schema).iter_errors(data)
    return [".".join(map(str, error.absolute_path)) for error in errors]
