"""The limits of the job that runs a program are the machine of its config, where no other is named."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from cfgfix.lint.request import Report, Request
from cfgfix.lint.runner import check
from cfgfix.settings.reader import Settings

PROGRAM = """\
import argparse

import tensorflow as tf
import yaml

parser = argparse.ArgumentParser()
parser.add_argument("--config", default="run.yaml")
with open(parser.parse_args().config) as stream:
    run = yaml.safe_load(stream)
tf.data.Dataset.range(9).map(lambda i: i, num_parallel_calls=run["porters"]).batch(run["flock"])
"""
CONFIG = "porters: 16\nflock: 32\n"
JOBS = {
    "a job": (
        "k8s/job.yaml",
        """
        apiVersion: batch/v1
        kind: Job
        spec:
          template:
            spec:
              containers:
                - name: train
                  command: ["python", "/workspace/app/train.py"]
                  args: ["--config", "run.yaml"]
                  resources: {limits: {cpu: "4", memory: 8Gi}}
        """,
        4,
    ),
    "replicas of an operator, thousandths of a CPU": (
        "deploy/tfjob.yaml",
        """
        apiVersion: kubeflow.org/v1
        kind: TFJob
        spec:
          tfReplicaSpecs:
            Worker:
              replicas: 2
              template:
                spec:
                  containers:
                    - name: tensorflow
                      command: [bash, -c, "cd /app && python -u app/train.py --config run.yaml"]
                      resources:
                        limits:
                          cpu: 2500m
        """,
        2.5,
    ),
    "a service": (
        "compose.yaml",
        """
        services:
          train:
            image: ours
            command: python app/train.py
            deploy: {resources: {limits: {cpus: "6.0", memory: 12g}}}
        """,
        6,
    ),
    "a service whose image says the command": (
        "docker-compose.yml",
        """
        services:
          train:
            build: {context: app}
            cpus: 3
        """,
        3,
    ),
    "a batch script": (
        "train.sbatch",
        """
        #!/bin/bash
        #SBATCH --job-name=barn
        #SBATCH --cpus-per-task=5
        #SBATCH --mem=16G
        srun python app/train.py --config app/run.yaml
        """,
        5,
    ),
    "a container": (
        "train.sh",
        "docker run --rm --cpus=7 \\\n  -m 8g ours python app/train.py --config run.yaml\n",
        7,
    ),
}


def project(folder: Path, **files: str) -> Report:
    """The report of a project with a program, its config and further files."""
    made = {"app/train.py": PROGRAM, "app/run.yaml": CONFIG, **files}
    for name, text in made.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return check(Request(paths=(str(folder),), settings=Settings(root=str(folder))))


def too_many(report: Report) -> list[str]:
    """What is said of worker counts above the CPUs."""
    return [
        finding.message
        for file in report.files
        for finding in file.findings
        if finding.name == "workers-above-cores"
    ]


@pytest.mark.parametrize("case", JOBS)
def test_the_limits_of_a_job_are_the_machine(tmp_path: Path, case: str) -> None:
    name, text, cpus = JOBS[case]
    report = project(
        tmp_path, **{"app/Dockerfile": 'FROM tensorflow\nCMD ["python", "app/train.py"]\n', name: text}
    )
    (message,) = too_many(report)
    assert f"may use {cpus:g} CPUs" in message
    assert f"{name}:" in message
    assert "hardware: the limits of" in report.hardware
    assert name in report.hardware


SILENT = {
    "enough": {"a.yaml": JOBS["a job"][1].replace('"4"', '"16"')},
    "another program": {"a.yaml": JOBS["a job"][1].replace("train.py", "serve.py")},
    "another config": {"a.yaml": JOBS["a job"][1].replace("run.yaml", "other.yaml")},
    "no limit": {"a.yaml": JOBS["a job"][1].replace("limits", "requests")},
    "two with different limits": {
        "a.yaml": JOBS["a job"][1],
        "b.yaml": JOBS["a job"][1].replace('"4"', '"8"'),
    },
    "no manifest": {"a.yaml": JOBS["a job"][1].replace("apiVersion: batch/v1\n", "")},
    "what is no number": {"a.yaml": JOBS["a job"][1].replace('"4"', '"{{ cpus }}"')},
}


@pytest.mark.parametrize("case", SILENT)
def test_nothing_is_said_where_no_job_limits_the_run(tmp_path: Path, case: str) -> None:
    assert too_many(project(tmp_path, **SILENT[case])) == []


def test_a_named_machine_comes_first(tmp_path: Path) -> None:
    project(tmp_path, **{"job.yaml": JOBS["a job"][1]})
    for hardware in ("none", "cpu,cpus=32"):
        settings = Settings(root=str(tmp_path), hardware=hardware)
        assert too_many(check(Request(paths=(str(tmp_path),), settings=settings))) == []


def test_cards_stay_unknown(tmp_path: Path) -> None:
    wool = PROGRAM + "tf.keras.mixed_precision.set_global_policy(run['wool'])\n"
    report = project(
        tmp_path,
        **{
            "job.yaml": JOBS["a job"][1],
            "app/train.py": wool,
            "app/run.yaml": "porters: 4\nflock: 32\nwool: mixed_float16\n",
        },
    )
    names = [finding.name for file in report.files for finding in file.findings]
    assert "mixed-precision-on-cpu" not in names


STARTED = {
    "the arguments of an image's entry point": (
        {
            "Dockerfile": 'FROM ours\nCOPY . /app\nENTRYPOINT ["python", "app/train.py"]\nCMD ["--config", "other.yaml"]\n',
            "k8s/job.yaml": "apiVersion: batch/v1\nkind: Job\nspec:\n  template:\n    spec:\n      containers:\n"
            "      - {name: a, args: [--config, run.yaml], resources: {limits: {cpu: '4'}}}\n",
        },
        4,
    ),
    "an image of the project by its name": (
        {
            "Dockerfile": 'FROM ours\nENTRYPOINT ["python", "app/train.py"]\n',
            "go.sh": "docker build -t flock .\ndocker run --rm --cpus=3 flock --config run.yaml\n",
        },
        3,
    ),
    "a script that a service starts": (
        {
            "compose.yaml": "services:\n  fit:\n    image: ours\n    command: [sh, scripts/fit.sh]\n    cpus: 2\n",
            "scripts/fit.sh": "#!/bin/sh\nexec python app/train.py --config run.yaml\n",
        },
        2,
    ),
    "a script of PBS": (
        {"fit.pbs": "#!/bin/bash\n#PBS -l select=1:ncpus=6:mem=8gb\npython app/train.py\n"},
        6,
    ),
}


@pytest.mark.parametrize("case", STARTED)
def test_what_starts_the_program_on_the_way_is_followed(tmp_path: Path, case: str) -> None:
    files, cpus = STARTED[case]
    (message,) = too_many(project(tmp_path, **files))
    assert f"may use {cpus} CPUs" in message


def test_an_image_of_others_is_not_the_program(tmp_path: Path) -> None:
    report = project(
        tmp_path,
        **{
            "Dockerfile": 'FROM ours\nENTRYPOINT ["python", "app/train.py"]\n',
            "go.sh": "docker build -t flock .\ndocker run --cpus=1 redis:7\n",
        },
    )
    assert too_many(report) == []
