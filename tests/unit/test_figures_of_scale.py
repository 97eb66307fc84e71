"""What the pages say that large runs take is what the benchmarks measured last."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks"))

from raw_rows import read_rows  # noqa: E402  a script finds it there

RESULTS = ROOT / "benchmarks" / "smooth_anonymity" / "results"
SIZES = (1_000_000, 2_000_000)
US = 1_000_000
PAGE = ROOT / "docs" / "evidence" / "scale.md"


def last(file, **asked):
    """Return the last row of a file that is as asked."""
    rows = [row for row in read_rows(RESULTS / file) if asked.items() <= row.items()]
    return rows[-1]


def on_a_cluster(size):
    spark, local = (last("spark.parquet", size=size, engine=name) for name in ("spark", "local"))
    assert spark["data_sha256"] == local["data_sha256"]
    parts = ("jvm_seconds", "worker_seconds", "own_seconds")
    alone = (local["own_seconds"] + local["worker_seconds"]) * US / size
    return [
        *(f"{spark[part] * US / size:.1f} us" for part in parts),
        f"{spark['shuffled_bytes'] / size:.0f} B",
        f"{spark['worker_mib']:.0f} MiB",
        f"{alone:.1f} us",
    ]


@pytest.mark.parametrize("size", [2_000_000, 5_000_000])
@pytest.mark.parametrize(
    ("who", "engine"),
    [
        ("the driver into a folder", "spark, parts by the driver"),
        ("executors at an address", "spark, parts by executors"),
    ],
)
def test_a_page_says_what_writing_parts_took(who, engine, size):
    row = last("spark.parquet", size=size, engine=engine)
    other = last("spark.parquet", size=size, engine="spark, parts by the driver")
    assert row["data_sha256"] == other["data_sha256"]
    said = [
        *(
            f"{row[part] * US / size:.1f} us"
            for part in ("jvm_seconds", "worker_seconds", "own_seconds")
        ),
        f"{row['shuffled_bytes'] / size:.0f} B",
        f"{row['worker_mib']:.0f} MiB",
    ]
    text = PAGE.read_text()
    assert f"\n| {size:,}, {who} | {' | '.join(said)} |\n" in text


def test_a_page_says_how_the_driver_grows():
    few, many = (last("spark.parquet", size=n, engine="spark") for n in (1_000_000, 5_000_000))
    said = f"{few['own_mib']:.0f} MiB for 1,000,000 rows, {many['own_mib']:.0f} for 5,000,000"
    assert said in PAGE.read_text()


def on_the_disk(size):
    row = last("scale.parquet", size=size, way="disk", variant="greedy only")
    return [
        f"{row['cpu_seconds']:.1f} s",
        f"{row['peak_mib']:.0f} MiB",
        f"{row['worker_peak_mib']:.0f} MiB",
        f"{row['disk_mib'] * 2**20 / size:.0f} B",
        f"{row['file_mib'] * 2**20 / size:.0f} B",
    ]


@pytest.mark.parametrize(
    ("measured", "size"),
    [
        *((on_a_cluster, size) for size in (*SIZES, 5_000_000)),
        *((on_the_disk, size) for size in SIZES),
    ],
)
def test_a_page_says_what_was_measured(measured, size):
    text = PAGE.read_text()
    assert f"\n| {size:,} | {' | '.join(measured(size))} |\n" in text


@pytest.mark.parametrize("users", [1_000_000, 5_000_000])
def test_a_page_says_what_verifying_parts_took(users):
    text = PAGE.read_text()
    classes, whole = (last("parts.parquet", users=users, step=s) for s in ("classes", "verify"))
    assert whole["ok"]
    said = [
        f"{whole['file_bytes'] / 1e6:.1f} MB",
        f"{classes['cpu_s']:.2f} s",
        f"{whole['cpu_s']:.2f} s",
        f"{whole['peak_mib']:.0f} MiB",
    ]
    assert f"\n| {users:,} | {' | '.join(said)} |\n" in text


@pytest.mark.parametrize(
    ("engine", "size", "variant", "form"),
    [
        ("local", 100_000, "greedy", "lists"),
        ("local", 100_000, "search", "lists"),
        ("local", 1_000_000, "greedy", "lists"),
        ("local", 1_000_000, "search", "lists"),
        ("local", 1_000_000, "greedy", "pairs"),
        ("local", 5_000_000, "greedy", "lists"),
        ("spark", 1_000_000, "greedy", "lists"),
        ("spark", 1_000_000, "greedy", "pairs"),
        ("spark", 5_000_000, "greedy", "lists"),
        ("address", 1_000_000, "greedy", "lists"),
        ("address", 5_000_000, "greedy", "lists"),
    ],
)
def test_a_page_says_what_estimates_said_and_runs_took(engine, size, variant, form):
    row = last("estimate.parquet", engine=engine, size=size, variant=variant, form=form)
    for figure in ("cpu_seconds", "working_bytes", "worker_mib", "shuffle_bytes"):
        if figure in row:
            assert row[f"{figure}_low"] < row[figure] < row[f"{figure}_high"]
    search = {"greedy": "no", "search": "yes"}[variant]
    said = [
        f"{row['cpu_seconds_low']:.1f} to {row['cpu_seconds_high']:.1f} s",
        f"{row['cpu_seconds']:.1f} s",
        f"{row['working_bytes_low'] / 1e6:.0f} to {row['working_bytes_high'] / 1e6:.0f} MB",
        f"{row['working_bytes'] / 1e6:.0f} MB",
        f"{row['estimate_cpu']:.1f} s",
    ]
    text = PAGE.read_text()
    users = f"{size:,} {form}{', at an address' * (engine == 'address')}"
    assert f"\n| {users} | {search} | {' | '.join(said)} |\n" in text
