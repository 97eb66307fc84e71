"""Data sets of the five papers that do not ship: where each file is, and its digest.

These files are never downloaded: `found_in` looks for them in a folder, and checks them there. The
address is that of the very file whose digest stands here. `BY_PAPER` has every data set of the
papers under the paper's name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from graphveil.core.errors import InputError
from graphveil.io.datasets.larger import (
    LARGER,
    SNAP,
    SNAP_LICENSE,
    LargerSet,
    checked_at,
)

_GITHUB = "https://raw.githubusercontent.com"

_ALL = (
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
    item.name: item for item in (*_ALL, *(LARGER[n] for n in ("adult", "ca-GrQc", "wiki-Vote")))
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

    Raises
    ------
    InputError
        If the content has another SHA-256, or the folder does not exist.

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
