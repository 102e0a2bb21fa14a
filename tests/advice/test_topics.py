"""The recorded advice: complete, sourced, and pointing at measurements that exist."""

from __future__ import annotations

import pytest

from cfgfix.advice.topics import Topic, topic_of, topics
from cfgfix.config.dialects.dialect import dialects
from cfgfix.rules.evidence import tables

ALL = list(topics().values())


@pytest.mark.parametrize("topic", ALL, ids=[topic.name for topic in ALL])
def test_every_topic_names_its_sources(topic: Topic) -> None:
    assert topic.recommendations
    assert all(item.source and item.says for item in topic.recommendations)
    assert {item.kind for item in topic.recommendations} <= {"guide", "tool", "code", "primary"}


@pytest.mark.parametrize("topic", ALL, ids=[topic.name for topic in ALL])
def test_every_measured_fact_exists(topic: Topic) -> None:
    for item in topic.measured:
        if item.script is not None:
            assert len(tables(item.script, item.table or "")) == 1, f"{item.script}: {item.table}"


def test_topics_speak_of_concepts_or_say_what_they_are() -> None:
    known = {concept for dialect in dialects().values() for concept in dialect.concepts}
    for topic in ALL:
        if topic.title == topic.name:
            assert topic.name in known
        assert all(concept in known for concept in topic.concepts if concept != topic.name)


def test_the_tables_of_the_older_tools_are_there() -> None:
    for name in ("batch_size", "workers", "prefetch", "ram", "gpu_topology", "gpu_memory", "gpu_utilisation"):
        assert topic_of(name) is not None
    for name in ("variation", "data_share", "throughput", "storage", "xla", "mixed_precision"):
        assert topic_of(name) is not None
    batch = topics()["batch_size"]
    assert {4: 8, 8: 16, 16: 32} in [dict(item.tiers) for item in batch.recommendations]
    assert any(item.least_ram_gib == 16 for item in topics()["ram"].recommendations)
    assert topic_of("data_gpu") is topics()["gpu_topology"]
    assert topic_of("no_such_thing") is None
