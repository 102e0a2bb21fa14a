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


POD = (
    "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: barn}}\nspec:\n  template:\n    spec:\n{pod}"
    "      containers:\n      - name: fit\n{container}"
)
RUNS = "        command: [python, app/train.py]\n"
FOUR = "        resources: {limits: {cpu: 4}}\n"
SHAPES = {
    "a patch of the object that another file describes": {
        "base/job.yaml": POD.format(pod="", container=RUNS),
        "overlay/limits.yaml": POD.format(pod="", container=FOUR),
    },
    "the second document of a list": {
        "all.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\n"
        + POD.format(pod="", container=RUNS + FOUR)
    },
    "a template of a workflow": {
        "flow.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec:\n  templates:\n  - name: t\n    container:\n"
        "      image: ours\n      command: [python, app/train.py]\n      resources: {limits: {cpu: 4}}\n"
    },
    "a manifest in JSON": {
        "job.json": '{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "a", "command": ["python", '
        '"app/train.py"], "resources": {"limits": {"cpu": "4"}}}]}}'
    },
    "limits that services share": {
        "compose.yaml": "x-few: &few\n  deploy: {resources: {limits: {cpus: '4'}}}\nservices:\n  fit:\n    <<: *few\n"
        "    image: ours\n    command: python app/train.py\n"
    },
    "a variable with what counts without it": {
        "compose.yaml": "services:\n  fit: {image: ours, cpus: '${CPUS:-4}', command: python app/train.py}\n"
    },
    "a set of CPUs": {
        "compose.yaml": "services:\n  fit: {image: ours, cpuset: '0-2,7', command: python app/train.py}\n"
    },
    "a Compose file over another": {
        "docker-compose.yml": "services:\n  fit: {image: ours, command: python app/train.py}\n",
        "docker-compose.override.yml": "services:\n  fit: {cpus: 4}\n",
    },
    "an image by the name of its file": {
        "compose.yaml": "services:\n  fit:\n    build: {context: ., dockerfile: docker/Fit.Dockerfile}\n    cpus: 4\n",
        "docker/Fit.Dockerfile": "FROM ours\nENTRYPOINT python app/train.py\n",
    },
    "a program that a service is started with": {
        "compose.yaml": "services:\n  fit: {image: ours, cpus: 4}\n",
        "go.sh": "docker compose run --rm fit python app/train.py\n",
    },
    "the options of a step": {"go.sh": "srun --cpus-per-task=4 --mem=8G python app/train.py\n"},
    "a step with fewer than the job": {
        "go.sh": "#!/bin/bash\n#SBATCH --cpus-per-task=32\nsrun -c 4 python app/train.py\n"
    },
    "options before the comments of a script": {
        "fit.sh": "#!/bin/bash\n#SBATCH --cpus-per-task=32\npython app/train.py\n",
        "README.md": "```\nsbatch --cpus-per-task=4 fit.sh\n```\n",
    },
    "a command that is wrapped": {
        "go.sh": "sbatch -c 4 --wrap='python app/train.py --config app/run.yaml'\n"
    },
    "a script of another ending": {"fit.job": "#SBATCH -c4\npython app/train.py\n"},
    "slots of Grid Engine": {"fit.sh": "#!/bin/bash\n#$ -pe smp 4\npython app/train.py\n"},
    "slots of LSF on one host": {
        "fit.sh": '#!/bin/bash\n#BSUB -n 4\n#BSUB -R "span[hosts=1]"\npython app/train.py\n'
    },
    "pinned CPUs": {"go.sh": "taskset -c 0-3 python app/train.py\n"},
    "CPUs of a container": {"go.sh": "podman run --cpuset-cpus=0-3 ours python app/train.py\n"},
}


@pytest.mark.parametrize("case", SHAPES)
def test_a_job_is_known_in_every_shape(tmp_path: Path, case: str) -> None:
    (message,) = too_many(project(tmp_path, **SHAPES[case]))
    assert "may use 4 CPUs" in message


LOOSE = {
    "a patch of another object": {
        "base/job.yaml": POD.format(pod="", container=RUNS),
        "overlay/limits.yaml": POD.format(pod="", container=FOUR).replace("{name: barn}", "{name: shed}"),
    },
    "a patch of another container": {
        "base/job.yaml": POD.format(pod="", container=RUNS),
        "overlay/limits.yaml": POD.format(pod="", container=FOUR).replace("name: fit", "name: proxy"),
    },
    "a variable alone": {
        "compose.yaml": "services:\n  fit: {image: ours, cpus: '${CPUS}', command: python app/train.py}\n"
    },
    "slots that may lie on several hosts": {"fit.sh": "#!/bin/bash\n#BSUB -n 4\npython app/train.py\n"},
    "slots of several hosts": {"fit.sh": "#!/bin/bash\n#$ -pe mpi 4\npython app/train.py\n"},
    "a comment that is switched off": {"fit.sh": "#!/bin/bash\n##SBATCH -c 4\npython app/train.py\n"},
    "a step of another program": {"go.sh": "srun -c 4 python app/other.py\npython app/train.py\n"},
}


@pytest.mark.parametrize("case", LOOSE)
def test_nothing_is_said_of_a_job_that_is_another(tmp_path: Path, case: str) -> None:
    assert too_many(project(tmp_path, **LOOSE[case])) == []


HERD = """\
import numpy as np
import tensorflow as tf
import yaml

with open("app/run.yaml") as stream:
    run = yaml.safe_load(stream)
layers = [tf.keras.layers.Conv2D(64, 3, padding="same", activation="relu") for _ in range(4)]
ends = [tf.keras.layers.GlobalAveragePooling2D(), tf.keras.layers.Dense(1)]
net = tf.keras.Sequential([tf.keras.Input((512, 512, 3)), *layers, *ends])
net.compile("adam", "mse")
net.fit(np.zeros((9, 512, 512, 3), "float32"), np.zeros((9, 1)), batch_size=run["flock"])
"""
CARD = "        resources: {limits: {nvidia.com/gpu: 1}}\n"
CARDS = {
    "the kind of a generic resource": ("#SBATCH --gres=gpu:t4:1\npython app/train.py\n", "Tesla T4"),
    "a constraint": (
        "#SBATCH --gres=gpu:1 --constraint=rtx_2080_ti\npython app/train.py\n",
        "GeForce RTX 2080 Ti",
    ),
    "a step": ("srun --gpus=t4:1 -c 4 python app/train.py\n", "Tesla T4"),
    "a name of several": ("#SBATCH -G v100:1\npython app/train.py\n", "V100-PCIE-32GB"),
    "a label of a cloud": (
        POD.format(
            pod="      nodeSelector: {cloud.google.com/gke-accelerator: nvidia-tesla-t4}\n",
            container=RUNS + CARD,
        ),
        "Tesla T4",
    ),
    "a machine": (
        POD.format(
            pod="      nodeSelector: {node.kubernetes.io/instance-type: g4dn.xlarge}\n", container=RUNS + CARD
        ),
        "Tesla T4",
    ),
    "an affinity": (
        POD.format(
            pod="      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
            "[{matchExpressions: [{key: nvidia.com/gpu.product, operator: In, values: [Tesla-T4]}]}]}}}\n",
            container=RUNS + CARD,
        ),
        "Tesla T4",
    ),
}


def too_large(folder: Path, text: str) -> tuple[list[str], str]:
    """What is said of batches above the memory of a card, and of the machine."""
    name = "job.yaml" if text.startswith("apiVersion") else "job.sh"
    report = project(folder, **{"app/train.py": HERD, "app/run.yaml": "flock: 512\n", name: text})
    found = [item for file in report.files for item in file.findings if item.name == "batch-above-gpu-memory"]
    return [item.message for item in found], report.hardware


@pytest.mark.parametrize("case", CARDS)
def test_a_batch_is_held_against_the_card_that_a_job_names(tmp_path: Path, case: str) -> None:
    text, card = CARDS[case]
    (message,), machine = too_large(tmp_path, text)
    assert card in message
    assert card in machine
    assert ("is taken for the largest of that name" in machine) == (case == "a name of several")


@pytest.mark.parametrize(
    "text",
    [
        "#SBATCH --gres=gpu:2\npython app/train.py\n",
        "#SBATCH --gres=gpu:1 --constraint='t4|v100'\npython app/train.py\n",
        "#SBATCH --gres=gpu:t4:1\npython app/other.py\n",
        POD.format(pod="      nodeSelector: {accelerator: 'yes'}\n", container=RUNS + CARD),
    ],
)
def test_a_card_that_no_job_names_is_not_known(tmp_path: Path, text: str) -> None:
    assert too_large(tmp_path, text)[0] == []


def test_a_file_that_names_another_card_is_taken_over(tmp_path: Path) -> None:
    assert "Tesla T4" in too_large(tmp_path, CARDS["a label of a cloud"][0])[1]
    again = CARDS["a label of a cloud"][0].replace("nvidia-tesla-t4", "nvidia-l4")
    assert "L4" in too_large(tmp_path, again)[1]
    assert "L4" in too_large(tmp_path, again)[1]
