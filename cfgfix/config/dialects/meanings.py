"""What each concept means, for editors and published schemas; docs/concepts.md tells more."""

from __future__ import annotations

from collections.abc import Iterable

MEANINGS: dict[str, tuple[str, str]] = {
    "batch_size": ("samples in a training batch", ""),
    "eval_batch_size": ("samples in an evaluation batch", ""),
    "batch_size_train": ("samples in a batch, as the training section says it", ""),
    "batch_size_data": ("samples in a batch, as the data section says it", ""),
    "workers": (
        "parallel calls of the loading function (`map(num_parallel_calls=...)`)",
        "-1 is AUTOTUNE where the program passes it on",
    ),
    "workers_train": ("parallel calls of the loading function, as the training section says it", ""),
    "workers_data": ("parallel calls of the loading function, as the data section says it", ""),
    "prefetch": ("batches in the buffer of `prefetch()`", "-1 is AUTOTUNE"),
    "pipeline_buffer": ("one number from which a program derives several buffers", "batches"),
    "host_buffer": ("every setting that keeps batches ready in host memory", "batches"),
    "device_buffer": ("the setting that decides how many batches wait on the GPU", "batches"),
    "device_prefetch": ("whether batches are copied to the GPU ahead (`prefetch_to_device`)", "bool"),
    "shuffle_buffer": ("samples in the buffer of `shuffle()`", ""),
    "shuffle_multiplier": ("the shuffle buffer as a multiple of the batch", "factor"),
    "cache": ("`cache()`: in memory, or in a file", "bool or path"),
    "drop_remainder": ("whether the last, partial batch is left out", "bool"),
    "deterministic": ("whether the order of samples is kept", "bool"),
    "repeat_data": ("the data set is repeated without end", "bool"),
    "input_files": ("the files that the training data is read from", "list of paths"),
    "auto_shard_policy": (
        "how a distribution strategy divides a data set among workers",
        "AUTO, FILE, DATA, OFF",
    ),
    "service_address": ("dispatcher of the tf.data service", "address"),
    "service_mode": (
        "how the service divides a data set among its workers",
        "processing mode or sharding policy",
    ),
    "native_loading": ("samples are loaded by TensorFlow operations instead of Python", "bool"),
    "private_threads": (
        "threads of the data pipeline's own pool (`options.threading.private_threadpool_size`)",
        "0 is the shared pool",
    ),
    "dataset_size": ("samples in one pass over the data", ""),
    "seed": ("seed of shuffling, splitting or initialisation", ""),
    "pin_memory": ("PyTorch's DataLoader copies batches to page-locked memory", "bool"),
    "persistent_workers": ("PyTorch's DataLoader keeps its workers between epochs", "bool"),
    "pad_fixed": ("every batch is padded to one fixed shape", "bool"),
    "text_pad_length": ("length that texts are padded to", "tokens"),
    "text_max_tokens": ("length that texts are cut to; 0 is never", "tokens"),
    "mel_pad_frames": ("length that spectrograms are padded to", "frames"),
    "max_audio_seconds": ("longest recording that is kept", "seconds"),
    "sample_rate": ("samples of audio a second", "Hz"),
    "hop_length": ("samples between two frames", "samples"),
    "n_mels": ("channels of a spectrogram", "channels"),
    "image_height": ("height of a decoded image", "pixels"),
    "image_width": ("width of a decoded image", "pixels"),
    "image_channels": ("channels of a decoded image", "channels"),
    "sequence_length": ("length of a token sequence", "tokens"),
    "model_dims": ("widths that enter matrix products (embedding, hidden, head sizes)", "units"),
    "mixed_precision": ("16-bit computation", "bool, or the name of a Keras dtype policy"),
    "mixed_precision_train": (
        "16-bit computation, as the training section says it",
        "bool, or the name of a Keras dtype policy",
    ),
    "mixed_precision_data": (
        "16-bit computation, as the data section says it",
        "bool, or the name of a Keras dtype policy",
    ),
    "xla": ("XLA, by any switch of the file", "bool"),
    "xla_step": ("XLA for the train step (`jit_compile=True`)", "bool"),
    "xla_auto": ("XLA for all graphs of the process (`tf.config.optimizer.set_jit`)", "bool"),
    "keras_jit": ("Keras' `compile(jit_compile=...)`", "bool or `auto`"),
    "op_determinism": ("`tf.config.experimental.enable_op_determinism`", "bool"),
    "graph_mode": ("the step is a `tf.function`", "bool"),
    "eager_debug": ("functions run eagerly (`run_functions_eagerly`)", "bool"),
    "run_eagerly": ("Keras' `compile(run_eagerly=...)`", "bool"),
    "epochs": ("passes over the training data", "epochs"),
    "steps_per_epoch": ("training steps in one epoch", "steps"),
    "train_steps": ("training steps in all", "steps"),
    "warmup_steps": ("steps over which the learning rate rises", "steps"),
    "gradient_accumulation": ("passes, or parts of a batch, behind one update", ""),
    "learning_rate": ("the learning rate, or its peak", "per step"),
    "min_learning_rate": ("the least learning rate of a schedule", "per step"),
    "optimizer": ("name of the optimizer", ""),
    "optimizer_lr": ("a key named `lr` inside a block that is handed to the optimizer", "per step"),
    "decay": ("a key named `decay` inside a block that is handed to the optimizer", "per step"),
    "clipnorm": ("each gradient is scaled to at most this norm (Keras)", "norm"),
    "clipvalue": ("each component of a gradient is cut to this value (Keras)", "value"),
    "global_clipnorm": ("all gradients together are scaled to at most this norm (Keras)", "norm"),
    "model_parameters": ("trainable parameters of the model", ""),
    "data_gpu": ("the card that data is copied to", "index among the visible GPUs"),
    "model_gpu": ("the card that trains", "index among the visible GPUs"),
    "gpu_index": ("an index of a card", "index among the visible GPUs"),
    "data_gpu_memory_mb": ("memory limit of the card that data is copied to", "MiB (TensorFlow says MB)"),
    "model_gpu_memory_mb": ("memory limit of the card that trains", "MiB (TensorFlow says MB)"),
    "gpu_memory_mb": ("one memory limit for all cards", "MiB"),
    "gpu_memory_fraction": ("share of the card's memory", "0 to 1"),
    "memory_growth": ("GPU memory is taken as needed, not all at once", "bool"),
    "num_gpus": ("cards to train on", "cards"),
    "per_replica_batch_size": ("samples that one replica gets in a batch", ""),
    "worker_replicas": ("worker processes of a cluster job", "pods"),
    "strategy": ("name of the distribution strategy", ""),
    "visible_devices": ("the cards that a process sees (CUDA_VISIBLE_DEVICES)", "list"),
    "ps_replicas": ("parameter servers of a cluster job", "pods"),
    "chief_replicas": ("chief processes of a cluster job", "pods"),
    "pod_gpus": ("cards that one pod of a cluster job may use", "cards"),
    "pod_cpus": ("CPUs that one pod of a cluster job may use", "CPUs"),
    "inter_op_threads": (
        "TensorFlow's threads for operations side by side",
        "threads; 0 lets TensorFlow choose",
    ),
    "intra_op_threads": ("TensorFlow's threads inside one operation", "threads; 0 lets TensorFlow choose"),
    "upsample_scales": ("factors by which a vocoder stretches frames to samples", "list of factors"),
    "band_upsample_scales": (
        "factors by which a vocoder of several bands stretches frames to samples of each band",
        "list of factors",
    ),
    "subbands": ("bands that a vocoder makes at once and then joins", ""),
    "epoch_lengths": ("a length in epochs, which the program counts by the samples of an epoch", "epochs"),
    "records_per_epoch": ("samples that count as one epoch", ""),
    "slots": ("GPUs that a cluster gives to one trial", ""),
}
"""Concept: its meaning, and its unit or values."""


BESIDE: dict[tuple[str, str], str] = {
    ("batch_size", "strategy"): "the global batch, which all replicas of the strategy share",
    ("eval_batch_size", "strategy"): "the global batch, which all replicas of the strategy share",
}
"""What a concept is where the program says another one: a batch under a distribution strategy."""


def meaning_among(concept: str, given: Iterable[str]) -> str:
    """Return the meaning that a concept has beside other given concepts.

    Empty where none of them changes its meaning.
    """
    return next((BESIDE[concept, other] for other in given if (concept, other) in BESIDE), "")


def meaning(concept: str) -> str:
    """Return the meaning of a concept in words, with its unit.

    Empty for a concept that a project made up.
    """
    text, unit = MEANINGS.get(concept, ("", ""))
    text = text[:1].upper() + text[1:]
    return f"{text} ({unit})" if unit else text
