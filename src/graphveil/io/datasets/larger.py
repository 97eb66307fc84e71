"""Public data that does not ship: files that are downloaded, and files that are only looked for.

`fetch` downloads a set once, checks its SHA-256 and keeps it in a cache folder. Only sets whose
digest is known from more than one party are listed. The digest is that of the uncompressed content:
an archive may be packed anew without a change of the data in it.

`found_in` looks in a folder for data sets of the five papers and checks them; it downloads nothing.
`BY_PAPER` lists them under the paper's name, each with address and digest of its file.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
import tempfile
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, IncompleteRead
from pathlib import Path
from typing import IO, Literal, NamedTuple

from graphveil.core.atomic import whole_file
from graphveil.core.errors import InputError, ResourceError, UsageError, one_of

FOLDER_VARIABLE = "GRAPHVEIL_DATA"
_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"
_SECONDS = 30
_THERE = f"into the folder of {FOLDER_VARIABLE}"


@dataclass(frozen=True, kw_only=True)
class LargerSet:
    """One public data set that `fetch` can bring.

    Parameters
    ----------
    name
        The name that `fetch` takes.
    kind
        The container it is meant for.
    file
        The name of the uncompressed file.
    url
        Its canonical public address; the file may be gzip-compressed there.
    sha256, bytes
        Digest and size of the uncompressed content.
    license
        What its publisher says.
    source
        Whom to cite.
    """

    name: str
    kind: Literal["graph", "table"]
    file: str
    url: str
    sha256: str
    bytes: int
    license: str
    source: str


SNAP_LICENSE = "no formal license stated; cite the source"
SNAP = "J. Leskovec, A. Krevl: SNAP Datasets, https://snap.stanford.edu/data, 2014"

_ALL = (
    LargerSet(
        name="adult",
        kind="table",
        file="adult.data",
        url="https://archive.ics.uci.edu/ml/machine-learning-databases/adult/adult.data",
        sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        bytes=3_974_305,
        license="CC-BY-4.0",
        source="B. Becker, R. Kohavi: Adult. UCI Machine Learning Repository, 1996",
    ),
    LargerSet(
        name="ca-GrQc",
        kind="graph",
        file="ca-GrQc.txt",
        url="https://snap.stanford.edu/data/ca-GrQc.txt.gz",
        sha256="f8ce6e931e068b878044b783da99ef603f566c87bcbce7991cd53720879f1660",
        bytes=351_704,
        license=SNAP_LICENSE,
        source=SNAP,
    ),
    LargerSet(
        name="facebook_combined",
        kind="graph",
        file="facebook_combined.txt",
        url="https://snap.stanford.edu/data/facebook_combined.txt.gz",
        sha256="f41c026ed8af3cc3359f1ca5573d0605fb09ae0eefa34544b820fd8c6e2ef296",
        bytes=854_362,
        license=SNAP_LICENSE,
        source=f"J. McAuley, J. Leskovec: Learning to Discover Social Circles, 2012; {SNAP}",
    ),
    LargerSet(
        name="wiki-Vote",
        kind="graph",
        file="wiki-Vote.txt",
        url="https://snap.stanford.edu/data/wiki-Vote.txt.gz",
        sha256="d2afbedf262126f820c6b3dd9f39a6d68e6f5ea839c0508297032ca77578b28a",
        bytes=1_095_061,
        license=SNAP_LICENSE,
        source=SNAP,
    ),
)

LARGER: dict[str, LargerSet] = {item.name: item for item in _ALL}
"""Every larger public data set, by name."""


def fetch(name: str, *, cache: str | Path | None = None) -> Path:
    """Return the path of a larger public data set whose content was checked.

    The folder that the environment variable GRAPHVEIL_DATA names is looked into first (for the
    file, or the file with .gz), then the cache; only then is the file downloaded. Wherever it comes
    from, its SHA-256 is checked.

    Parameters
    ----------
    name
        A name of `LARGER`.
    cache
        The cache folder; that of the operating system where not given.

    Raises
    ------
    UsageError
        Where no data set has this name.
    InputError
        Where the content is not what it should be.
    ResourceError
        Where it cannot be downloaded or stored.

    Examples
    --------
    >>> sorted(LARGER)
    ['adult', 'ca-GrQc', 'facebook_combined', 'wiki-Vote']
    """
    if name not in LARGER:
        raise UsageError(f"unknown larger data set {name!r}. {one_of(name, LARGER, verb='Choose')}")
    item = LARGER[name]
    local = _in_local_folder(item)
    if local is not None:
        return local
    folder = Path(cache) if cache is not None else _cache()
    kept = folder / item.file
    if kept.is_file() and _digest(kept, item.bytes) == item.sha256:
        return kept
    with _storing(folder):
        _download(item, kept)
    return kept


def _in_local_folder(item: LargerSet) -> Path | None:
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return None
    for path in (Path(folder) / item.file, Path(folder) / f"{item.file}.gz"):
        if path.is_file():
            _check(item, path, origin=str(path))
            return path
    return None


def checked_at(item: LargerSet, path: Path) -> None:
    """Refuse a file, compressed or not, whose content is not that of the set.

    Raises `InputError` if its SHA-256 is another, or it cannot be read.
    """
    _check(item, path, origin=str(path), there=f"of {item.url} there")


def _cache() -> Path:
    """Return the folder for what can be fetched again, as this operating system has it."""
    home = Path.home()
    if sys.platform == "win32":
        local = Path(os.environ.get("LOCALAPPDATA") or home / "AppData/Local")
        return local / "graphveil" / "graphveil" / "Cache"
    if sys.platform == "darwin":
        return home / "Library/Caches/graphveil"
    named = Path(os.environ.get("XDG_CACHE_HOME", "").strip())
    return (named if named.is_absolute() else home / ".cache") / "graphveil"


@contextmanager
def _storing(folder: Path) -> Iterator[None]:
    """Turn what the disk says into one line."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise ResourceError(
            f"the cache folder {folder} cannot be used ({reason}). Free space, or choose a "
            "different folder."
        ) from error


def _download(item: LargerSet, kept: Path) -> None:
    """Download, check and unpack under temporary names; move the file to the cache if good."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    with (
        whole_file(kept) as content,
        tempfile.TemporaryDirectory(dir=kept.parent, prefix=".download-") as folder,
    ):
        raw = Path(folder) / "raw"
        with raw.open("wb") as file, _progress(item.name) as show:
            for block, total in _received(item):
                file.write(block)
                show(len(block), total)
        _check(item, raw, origin=item.url)
        with _plain(raw) as source, content.open("wb") as target:
            while block := source.read(_CHUNK):
                target.write(block)


def _received(item: LargerSet) -> Iterator[tuple[bytes, int | None]]:
    """Yield what the publisher sends, and how much it announced; network errors in one line."""
    advice = (
        f"Try again later, or put {item.file} into a folder and set {FOLDER_VARIABLE} to "
        "that folder."
    )
    try:
        with urllib.request.urlopen(item.url, timeout=_SECONDS) as answer:  # noqa: S310  of the table
            total = answer.length
            received = 0
            while block := answer.read(1 << 16):
                received += len(block)
                yield block, total
            if total is not None and received < total:
                raise IncompleteRead(b"", total - received)
    except urllib.error.HTTPError as error:
        raise ResourceError(f"{item.url} responded with status {error.code}. {advice}") from error
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        name = type(reason if isinstance(reason, Exception) else error).__name__
        raise ResourceError(f"{item.url} could not be downloaded ({name}). {advice}") from error


def _check(item: LargerSet, path: Path, *, origin: str, there: str = _THERE) -> None:
    try:
        digest = _digest(path, item.bytes)
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}). Change its permissions."
        ) from error
    if digest != item.sha256:
        raise InputError(
            f"{origin}: the content has SHA-256 {digest}, expected {item.sha256} for "
            f"{item.name}. The file was changed or truncated: try again, or put a good copy "
            f"{there}."
        )


def _digest(path: Path, most: int) -> str:
    """Return the SHA-256 of the unpacked content; only its start is read where it is too long."""
    seen = hashlib.sha256()
    remaining = most + 1
    try:
        with _plain(path) as file:
            while remaining and (block := file.read(min(remaining, _CHUNK))):
                seen.update(block)
                remaining -= len(block)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return f"{seen.hexdigest()} (of a damaged archive)"
    return seen.hexdigest() if remaining else f"{seen.hexdigest()} (of the first {most + 1} bytes)"


@contextmanager
def _plain(path: Path) -> Iterator[IO[bytes]]:
    """Open a file as its uncompressed content, whether it is gzip-compressed or not."""
    with path.open("rb") as raw:
        packed = raw.read(2) == _GZIP
        raw.seek(0)
        if not packed:
            yield raw
            return
        with gzip.GzipFile(fileobj=raw, mode="rb") as unpacked:
            yield unpacked  # type: ignore[misc]  # GzipFile reads as a binary file does


@contextmanager
def _progress(name: str) -> Iterator[Callable[[int, int | None], None]]:
    """Give what moves a bar on, by some bytes of a total; there is none without a terminal."""
    if not sys.stderr.isatty():
        yield lambda _size, _total: None
        return
    from rich.console import Console  # noqa: PLC0415  only a download on a terminal needs it
    from rich.progress import BarColumn, DownloadColumn, Progress  # noqa: PLC0415  the same

    console = Console(stderr=True)
    columns = ("downloading {task.description}", BarColumn(), DownloadColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(name, total=None)
        yield lambda size, total: progress.update(task, advance=size, total=total)


_GITHUB = "https://raw.githubusercontent.com"

_ALL_PAPERS = (
    LargerSet(
        name="googleplaystore",
        kind="table",
        file="googleplaystore.csv",
        url=f"{_GITHUB}/"
        "Rizwankaka/googleplaystore/"
        "5992e07daee483322818e5b0f89fdef8d0376cf9/Kaggle/googleplaystore.csv",
        sha256="3e438f48161961933d26e99a8d9fc8ed79edfaa9fb34f8838e1ab4ec7a9fab91",
        bytes=1_360_155,
        license="CC-BY-3.0 as stated by the publisher",
        source="L. Gupta: Google Play Store Apps, Kaggle, 2018",
    ),
    LargerSet(
        name="bupa",
        kind="table",
        file="bupa.data",
        url=f"{_GITHUB}/amritmaj/SVM-Tree/fe84201f69778d5c9405025d3c783f80ee5c6780/bupa.data",
        sha256="975e8d89b140a487b16276cf3dacad97af63c4e367512b9973e7ab7b1626d419",
        bytes=7_454,
        license="CC-BY-4.0",
        source="R. S. Forsyth: Liver Disorders. UCI Machine Learning Repository, 1990",
    ),
    LargerSet(
        name="wine",
        kind="table",
        file="wine.csv",
        url=f"{_GITHUB}/jbrownlee/Datasets/d20fcb6402ae34e653d4513b00f39257bb37ed7f/wine.csv",
        sha256="e9c16b779f9194945067f65118da6afb317ef60c6515879c50124dc4f6cdd756",
        bytes=10_782,
        license="CC-BY-4.0",
        source="S. Aeberhard, M. Forina: Wine. UCI Machine Learning Repository, 1991",
    ),
    LargerSet(
        name="spect-heart",
        kind="table",
        file="SPECT.test",
        url=f"{_GITHUB}/"
        "vishwesh-D-kumar/NaiveBayesClassifier/"
        "e6aea3b308f2d73ac09aef48dd4e649f744a556a/SPECT.test",
        sha256="06dc745e634424ce74e5e2fe02834c3157121ca4c10b3b4faab4bf240a635f82",
        bytes=8_842,
        license="CC-BY-4.0",
        source="K. Cios and others: SPECT Heart. UCI Machine Learning Repository, 2001",
    ),
    LargerSet(
        name="ecoli",
        kind="table",
        file="ecoli.data",
        url=(f"{_GITHUB}/jbrownlee/Datasets/d20fcb6402ae34e653d4513b00f39257bb37ed7f/ecoli.data"),
        sha256="008bd8fbb1d8b34040c3c8c4e987cac2a7ebf116e008b140cc6441be5261ba1d",
        bytes=19_488,
        license="CC-BY-4.0",
        source="K. Nakai: Ecoli. UCI Machine Learning Repository, 1996",
    ),
    LargerSet(
        name="hepatitis",
        kind="table",
        file="hepatitis.data",
        url=f"{_GITHUB}/"
        "nom-gv/DatasetHepatitis/"
        "1f82f8006ed7fa59832135ecdce4926f0ee2cf8d/hepatitis.data",
        sha256="582a608591b0a459eb79069f79451e3ca596956354e9354c329d1861f24d8e47",
        bytes=7_742,
        license="CC-BY-4.0",
        source="G. Gong: Hepatitis. UCI Machine Learning Repository, 1988",
    ),
    LargerSet(
        name="forestfires",
        kind="table",
        file="forestfires.csv",
        url=(
            f"{_GITHUB}/codocedo/tane/59db4cbf2c84b722579b8b8f58927b204aabff9e/data/forestfires.csv"
        ),
        sha256="f5d5e89bf792385783f37c56a95f2fe8b34d44fd6b6c2e780189ba2b502c06e7",
        bytes=25_424,
        license="CC-BY-4.0",
        source="P. Cortez, A. Morais: Forest Fires. UCI Machine Learning Repository, 2007",
    ),
    LargerSet(
        name="polbooks",
        kind="graph",
        file="polbooks.gml",
        url=f"{_GITHUB}/"
        "hiepbkhn/itce2011/"
        "d8985d1484699bdbb7bbece572058a420a960eac/uncertain-graph/_data/polbooks.gml",
        sha256="29e2439036fa4e13b478a9d4ceda78b5ab4d4d8252882a7f2b6036b028e34848",
        bytes=26_314,
        license="free for scholarly use; cite the source",
        source="V. Krebs, unpublished; network data of M. E. J. Newman",
    ),
    LargerSet(
        name="polblogs",
        kind="graph",
        file="polblogs.gml",
        url=f"{_GITHUB}/"
        "hiepbkhn/itce2011/"
        "d8985d1484699bdbb7bbece572058a420a960eac/uncertain-graph/_data/polblogs.gml",
        sha256="bd83e3dd2397a57d2252cc212524c21fee6708663136898d4ace523224bdc632",
        bytes=977_839,
        license="free for scholarly use; cite the source",
        source="L. A. Adamic, N. Glance, 2005; network data of M. E. J. Newman",
    ),
    LargerSet(
        name="as20graph",
        kind="graph",
        file="as20graph.txt",
        url=f"{_GITHUB}/"
        "hiepbkhn/itce2011/"
        "d8985d1484699bdbb7bbece572058a420a960eac/uncertain-graph/_data/as20graph.txt",
        sha256="20176d41ef35c04a929bd088fe6ef491ab8eb88403dd227fc862f211ad5f25b5",
        bytes=293_531,
        license=SNAP_LICENSE,
        source=SNAP,
    ),
    LargerSet(
        name="ca-HepPh",
        kind="graph",
        file="ca-HepPh.txt",
        url=f"{_GITHUB}/"
        "hiepbkhn/itce2011/"
        "d8985d1484699bdbb7bbece572058a420a960eac/uncertain-graph/_data/ca-HepPh.txt",
        sha256="bfb289b97d5b8025da0f9c39d9f9404c10ea9f190d877bad42128749e74237c4",
        bytes=3_020_316,
        license=SNAP_LICENSE,
        source=SNAP,
    ),
    LargerSet(
        name="ca-AstroPh",
        kind="graph",
        file="ca-AstroPh.gr",
        url=f"{_GITHUB}/"
        "hiepbkhn/itce2011/"
        "d8985d1484699bdbb7bbece572058a420a960eac/uncertain-graph/_data/ca-AstroPh.gr",
        sha256="80915f0029bcc277aa154ae8edbcc521f2f64ddcd561a1e932fc94ec13241e80",
        bytes=2_138_187,
        license=SNAP_LICENSE,
        source=SNAP,
    ),
    LargerSet(
        name="email-Enron",
        kind="graph",
        file="email-Enron.txt",
        url=f"{_GITHUB}/"
        "kappybar/DensestSubgraphDiscovery/"
        "6e92b820e11f6c1eb0addad6094bfab5185ae2af/data/email-Enron.txt",
        sha256="68a72850f8c3b0821c4a5ea42b625de558b873d25191bf3558663cad78ccdd94",
        bytes=4_049_130,
        license=SNAP_LICENSE,
        source=SNAP,
    ),
    LargerSet(
        name="loc-Brightkite",
        kind="graph",
        file="Brightkite.txt",
        url=f"{_GITHUB}/"
        "HODynamic/HODynamic/"
        "101929273c5f7ff5c360f7d97202eb0b1080d735/data/Brightkite.txt",
        sha256="ebe7304e2758a599e8ec244919097e8bb5f5a37660e29c4a2ad24e9f74800957",
        bytes=2_491_993,
        license=SNAP_LICENSE,
        source=SNAP,
    ),
    LargerSet(
        name="power",
        kind="graph",
        file="power.graph",
        url=f"{_GITHUB}/"
        "networkit/networkit/"
        "17427915b5b8d39fdd602e5247cd96bb8138d79c/input/power.graph",
        sha256="27857e5754b414222e5dfc593ae54969247c05e33e02c3da1f98885b0ed02268",
        bytes=67_968,
        license="free for scholarly use; cite the source",
        source="D. J. Watts, S. H. Strogatz, 1998; network data of M. E. J. Newman",
    ),
)

PAPERS: dict[str, LargerSet] = {
    item.name: item
    for item in (*_ALL_PAPERS, *(LARGER[n] for n in ("adult", "ca-GrQc", "wiki-Vote")))
}
"""Every data set of the papers that does not ship and whose file is known, by name."""


Way = Literal["ships", "drawn", "file", "elsewhere", "not here"]


class PaperData(NamedTuple):
    """A data set of a paper.

    Parameters
    ----------
    paper
        The paper, as `graphveil.reproduce` calls it.
    theirs
        Its name there.
    way
        ``ships`` (`load`), ``drawn`` (a function of this module), ``file`` (`found_in` checks it),
        ``elsewhere`` (an address; no digest is known), or ``not here``.
    ours
        The name, the function, the address, or why it is not here.
    """

    paper: str
    theirs: str
    way: Way
    ours: str


_ANONET = "https://github.com/RacheldeJong/ANONET/tree/main/datasets"
_FACEBOOK = "people of Facebook; the original download was withdrawn"

_NAMED: tuple[tuple[str, Way, dict[str, str]], ...] = (
    ("smooth-anonymity", "drawn", {"stochastic": "block_model"}),
    ("smooth-anonymity", "file", {"adult": "adult", "playstore": "googleplaystore"}),
    (
        "smooth-anonymity",
        "elsewhere",
        {
            "dblp": "https://snap.stanford.edu/data/com-DBLP.html",
            "stanford": "https://snap.stanford.edu/data/web-Stanford.html",
        },
    ),
    ("smooth-anonymity", "not here", {"user-lists": "proprietary"}),
    (
        "adaptive-anonymity",
        "file",
        {
            "bupa": "bupa",
            "wine": "wine",
            "heart": "spect-heart",
            "ecoli": "ecoli",
            "hepatitis": "hepatitis",
            "forest": "forestfires",
        },
    ),
    ("adaptive-anonymity", "not here", dict.fromkeys(("CalTech", "Reed"), _FACEBOOK)),
    (
        "top-m-filter",
        "file",
        {
            name: name
            for name in (
                *("polbooks", "polblogs", "as20graph"),
                *("wiki-Vote", "ca-HepPh", "ca-AstroPh"),
            )
        },
    ),
    (
        "top-m-filter",
        "elsewhere",
        {
            "amazon": "https://snap.stanford.edu/data/com-Amazon.html",
            "youtube": "https://snap.stanford.edu/data/com-Youtube.html",
        },
    ),
    ("anonymization-problem", "ships", {"Copnet calls": "copenhagen-calls"}),
    (
        "anonymization-problem",
        "drawn",
        {"ER": "erdos_renyi", "BA": "barabasi_albert", "WS": "watts_strogatz"},
    ),
    (
        "anonymization-problem",
        "file",
        {
            "GRQC collab.": "ca-GrQc",
            "US power grid": "power",
            "Enron email": "email-Enron",
            "Brightkite": "loc-Brightkite",
        },
    ),
    (
        "anonymization-problem",
        "elsewhere",
        dict.fromkeys(
            (
                *("Radoslaw emails", "Primary school", "Moreno innov.", "Gene fusion"),
                *("Copnet sms", "Arenas email", "Euroroads", "Air traffic control"),
                *("Network science", "DNC emails", "Moreno health"),
            ),
            _ANONET,
        )
        | {
            "Bitcoin alpha": "https://snap.stanford.edu/data/soc-sign-bitcoin-alpha.html",
            "Pajek Erdős": "http://konect.cc/networks/pajek-erdos/",
        },
    ),
    (
        "anonymization-problem",
        "not here",
        dict.fromkeys(
            ("Copnet FB", "FB Reed98", "FB Simmons81", "FB GWU54", "FB wall 2009"), _FACEBOOK
        ),
    ),
)

BY_PAPER: tuple[PaperData, ...] = tuple(
    PaperData(paper, theirs, way, ours)
    for paper, way, names in _NAMED
    for theirs, ours in names.items()
)
"""Every data set of the papers under its name there."""


def found_in(name: str, folder: Path) -> Path | None:
    """Return the path of a paper's data in a folder, its content checked; None if it is not there.

    The file may be compressed, as ``.gz``, and may be in a folder of its own named as the data set.

    Raises `InputError` if the content has another SHA-256, or the folder does not exist.

    Examples
    --------
    >>> found_in("wine", Path(".")) is None
    True
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder. Give the folder that holds the data.")
    item = PAPERS[name]
    for place in (folder, folder / name):
        for path in (place / item.file, place / f"{item.file}.gz"):
            if path.is_file():
                checked_at(item, path)
                return path
    return None
