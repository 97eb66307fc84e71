"""The commonest layouts of files that people have, each with its reading or its refusal."""

from __future__ import annotations

import gzip
from typing import Any, NamedTuple

import pytest

from graphveil.core.errors import InputError
from graphveil.data import Bipartite, Data, Graph, Table
from graphveil.io import (
    BipartiteOptions,
    GraphOptions,
    TableOptions,
    load_bipartite,
    load_graph,
    load_table,
)

LOADS: dict[str, tuple[Any, Any]] = {
    "graph": (load_graph, GraphOptions),
    "bipartite": (load_bipartite, BipartiteOptions),
    "table": (load_table, TableOptions),
}


class Layout(NamedTuple):
    """A file, how it is read, and what that gives: the data, or the message that refuses it."""

    kind: str
    name: str
    content: str | bytes
    expected: Any
    options: dict[str, Any] = {}  # noqa: RUF012  never changed
    said: str | None = None
    """A sentence of the reading report."""


def graph(name: str, content: str | bytes, expected: Any, said: str | None = None, **options: Any):
    return Layout("graph", name, content, expected, options, said)


def likes(name: str, content: str | bytes, expected: Any, said: str | None = None, **options: Any):
    return Layout("bipartite", name, content, expected, options, said)


def table(name: str, content: str | bytes, expected: Any, said: str | None = None, **options: Any):
    return Layout("table", name, content, expected, options, said)


NUMBERS = [(1, 2), (2, 3), (7, 9)]
NAMES = [("ann", "bob"), ("bob", "cyd")]
TEA = {"ann": ["rye", "tea"], "bob": ["tea"]}
CELLS = {"sex": ["f", "m"], "town": ["Oslo", None]}
TABLE = "If each row is a person, use --kind table and a method for tables. If two columns are "
HOWEVER = TABLE + "the ends of edges, use options that name the two, such as"
NO_TABLE = HOWEVER[HOWEVER.index("If two") :]
"""What is said of text, which holds no table."""
MANY = TABLE + (
    "the ends of edges, use --source-column and --target-column to name them, with --ignore-weights"
)
CALLS = "caller,callee,duration\n1,2,60\n2,3,5\n7,9,8\n"

LAYOUTS = {
    # Edge lists: separators
    "comma": graph("a.csv", "1,2\n2,3\n7,9\n", NUMBERS),
    "semicolon": graph("a.csv", "1;2\n2;3\n7;9\n", NUMBERS),
    "tab": graph("a.tsv", "1\t2\n2\t3\n7\t9\n", NUMBERS),
    "tab in csv": graph("a.csv", "1\t2\n2\t3\n7\t9\n", NUMBERS),
    "one space": graph("a.txt", "1 2\n2 3\n7 9\n", NUMBERS),
    "columns under each other": graph("a.txt", "  1   2\n  2   3\n  7   9  \n", NUMBERS),
    "pipe": graph("a.csv", "1|2\n2|3\n7|9\n", NUMBERS),
    "comma and space": graph("a.csv", "1, 2\n2, 3\n7, 9\n", NUMBERS),
    "comma and space below a header without": graph(
        "a.csv", "source,target\nann, bob\nbob, cyd\n", NAMES
    ),
    "colon": graph("a.txt", "1:2\n2:3\n7:9\n", NUMBERS, delimiter=":"),
    "colon that nobody names": graph(
        "a.txt",
        "1:2\n2:3\n",
        "a.txt: only one column found, but each row needs two ids. Set the "
        "separator with --delimiter.",
    ),
    "a delimiter that is none": graph(
        "a.txt",
        "1,2\n",
        "a.txt: 'abc' is not a valid --delimiter. Use one character such as |, or ::, tab or "
        "space.",
        delimiter="abc",
    ),
    # Edge lists: ends of lines, encodings, quotes
    "CRLF": graph("a.csv", "1,2\r\n2,3\r\n7,9\r\n", NUMBERS),
    "byte order mark": graph("a.csv", "\ufeffsource,target\n1,2\n2,3\n7,9\n", NUMBERS),
    "UTF-16": graph(
        "a.csv",
        "1,2\n2,3\n".encode("utf-16"),
        "a.csv, line 1: the file is not UTF-8. As utf-16 it has the text 1,2: if that is right, "
        "use --encoding utf-16; else name its encoding. Use --encoding utf-16",
    ),
    "UTF-16 as said": graph(
        "a.csv", "1,2\n2,3\n7,9\n".encode("utf-16"), NUMBERS, encoding="utf-16"
    ),
    "Latin-1": graph(
        "a.csv",
        "ann,jos\xe9\nann,bob\n".encode("latin-1"),
        "a.csv, line 1: the file is not UTF-8. As windows-1252 it has the text josé: if that is "
        "right, use --encoding windows-1252; else name its encoding. Use --encoding windows-1252",
    ),
    "quoted ids": graph("a.csv", '"ann","bob"\n"bob","cyd"\n', NAMES),
    "quoted integers": graph("a.csv", '"source","target"\n"1","2"\n"2","3"\n"7","9"\n', NUMBERS),
    "a comma in quotes": graph(
        "a.csv", 'source,target\n"Doe, J",ann\nann,bob\n', [("Doe, J", "ann"), ("ann", "bob")]
    ),
    "no last line end": graph("a.txt", "1 2\n2 3\n7 9", NUMBERS),
    "lines of spaces": graph("a.csv", "\n  \n1,2\n \n2,3\n7,9\n\n", NUMBERS),
    "lines of spaces, CRLF": graph("a.csv", "1,2\r\n  \r\n2,3\r\n7,9\r\n", NUMBERS),
    "a workbook of Excel": table(
        "a.xlsx",
        "PK",
        "a.xlsx is a spreadsheet workbook. Save it as CSV in UTF-8, and give that file.",
    ),
    "an old workbook under another name": table(
        "a.csv",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0",
        "a.csv: the content is a spreadsheet workbook. Save the sheet as CSV in UTF-8.",
    ),
    "a workbook under another name": table(
        "a.csv",
        b"PK\x03\x04\0\0",
        "a.csv: the content is a zip archive. Unzip it first, and give the file inside.",
    ),
    "SPSS": table(
        "a.sav", "$FL2", "a.sav is an SPSS file. Save it as CSV in UTF-8, and give that file."
    ),
    "Stata": table(
        "a.dta", "", "a.dta is a Stata file. Save it as CSV in UTF-8, and give that file."
    ),
    "xz": graph(
        "a.csv.xz",
        b"\xfd7zXZ\0",
        "a.csv.xz is in an archive or compression format that is not supported. Unpack it first, "
        "and give the file inside.",
    ),
    "xz under another name": graph(
        "a.csv", b"\xfd7zXZ\0\0", "a.csv: the content is xz-compressed. Unpack it first."
    ),
    "bzip2 under another name": graph(
        "a.csv", b"BZh91AY&SY", "a.csv: the content is bzip2-compressed. Unpack it first."
    ),
    "gzip under another name": graph(
        "a.csv",
        gzip.compress(b"1,2\n"),
        "a.csv: the content is gzip-compressed. Rename it to end in .gz.",
    ),
    "Windows-1252": graph(
        "a.csv",
        "source;target\r\nMüller;ann\r\n".encode("cp1252"),
        "a.csv, line 2: the file is not UTF-8. As windows-1252 it has the text Müller: if that is "
        "right, use --encoding windows-1252; else name its encoding. Use --encoding windows-1252",
    ),
    "Excel's CSV in UTF-8": graph(
        "a.csv",
        '\ufeffSource;Target\r\n"Müller; J";bob\r\nbob;cyd\r\n',
        [("Müller; J", "bob"), ("bob", "cyd")],
    ),
    "lines of JSON": graph(
        "a.csv", '{"source": 1, "target": 2}\n', "a.csv: the content is JSON. Save it as CSV."
    ),
    "lines of JSON under their name": graph(
        "a.jsonl", "{}", "a.jsonl is JSON. Save it as CSV, and give that file."
    ),
    "a table in lines of JSON": table(
        "a.csv",
        '{"sex": "f", "town": "Oslo"}\n{"sex": "m", "town": "Rome"}\n',
        "a.csv: the content is JSON. Save it as CSV.",
    ),
    "Pajek under another name": graph(
        "a.txt",
        '*Vertices 2\n1 "ann"\n2 "bob"\n*Edges\n1 2\n',
        "a.txt: the content is Pajek. Rename it to end in .net.",
    ),
    "XML under another name": graph(
        "a.csv",
        '<?xml version="1.0"?>\n<graphml/>\n',
        "a.csv: the content is XML. Give it the extension of its format, such as .graphml.",
    ),
    # Ids
    "leading zeros": graph(
        "a.csv", "source,target\n001,002\n002,003\n", [("001", "002"), ("002", "003")]
    ),
    "leading zeros beside none": graph(
        "a.csv",
        "01,2\n2,03\n1,3\n",
        [("01", "2"), ("03", "2"), ("1", "3")],
        said="read all ids as text: 2 are not integers, such as 01",
    ),
    "whole numbers as fractions": graph(
        "a.csv",
        "1.0,2.0\n2.0,3.0\n",
        [(1, 2), (2, 3)],
    ),
    "numbers that a spreadsheet rounded": graph(
        "a.csv",
        "source,target\n4.91234E+12,2\n",
        "a.csv, line 2: the id 4.91234E+12 is not an integer. Use an integer >= 0, or text.",
    ),
    "a negative id": graph(
        "a.csv",
        "1,2\n-1,2\n",
        "a.csv, line 2: the id -1 is negative. Use an integer >= 0, or text.",
    ),
    "hexadecimal ids": graph("a.csv", "1f,2a\n2a,3b\n", [("1f", "2a"), ("2a", "3b")]),
    "a missing id beside integers": graph(
        "a.csv",
        "1,2\n2,nan\n",
        "a.csv, line 2: the id nan is missing. Use an integer >= 0, or text.",
    ),
    "a missing id of a database": graph(
        "a.tsv",
        "source\ttarget\n1\t2\n2\t\\N\n",
        "a.tsv, line 3: the id \\N is missing. Use an integer >= 0, or text.",
    ),
    "a missing id among names": graph(
        "a.csv",
        "source,target\nNULL,bob\nann,bob\n",
        [("NULL", "bob"), ("ann", "bob")],
        said='read NULL (1x) as ids: if they mean "missing", remove their rows',
    ),
    "an empty id, as in rows of commas": graph(
        "a.csv",
        "source,target\n1,2\n,\n",
        "a.csv, line 3: an id is missing. Use an integer >= 0, or text.",
    ),
    "a name with a space behind it": graph(
        "a.csv",
        "ann ,bob\nbob,cyd\ncyd,ann\n",
        "a.csv: the ids 'ann' and 'ann ' look the same. Merge them, or rename one.",
    ),
    "a name with a space that does not break": likes(
        "a.csv",
        "user,item\nann,tea\nbob,tea\xa0\n",
        r"a.csv: the ids 'tea' and 'tea\xa0' look the same. Merge them, or rename one.",
    ),
    "an accent in two spellings": graph(
        "a.csv",
        "source,target\nJos\u00e9,bob\nJose\u0301,cyd\n",
        [("Jose\u0301", "cyd"), ("Jos\u00e9", "bob")],
        said=r"read 'Jos\xe9' and 'Jose\u0301' as two different ids, although they look the same",
    ),
    "a comment that may be a row": likes(
        "a.csv",
        "user,item\n#ann,tea\nbob,tea\n",
        "a.csv, line 2: #ann,tea could be a comment or a row. For a comment, "
        "put a space after #; for a row, quote the id and separate cells by "
        "commas or tabs.",
    ),
    "a comment that may be a user": likes(
        "a.txt",
        "ann tea rye\n#bob tea\n",
        "a.txt, line 2: #bob tea could be a comment or a user. For a comment, "
        "put a space after #; for a user, quote the id and separate cells by "
        "commas or tabs.",
        layout="lists",
    ),
    "an id that begins like a comment": likes(
        "a.csv", 'user,item\n"#ann",tea\nbob,tea\n', {"#ann": ["tea"], "bob": ["tea"]}
    ),
    "a comment between rows": likes(
        "a.csv", "user,item\nann,tea\n# bob,rye\nbob,tea\nann,rye\n", TEA
    ),
    "repeated ties and loops": graph(
        "a.csv", "1,2\n1,2\n2,2\n2,3\n7,9\n", NUMBERS, said="dropped 1 self-loop"
    ),
    # Edge lists: headers
    "source,target": graph(
        "a.csv",
        "source,target\nann,bob\nbob,cyd\n",
        NAMES,
        said="read the first line as column names: source, target",
    ),
    "target,source": graph("a.csv", "target,source\n2,1\n3,2\n9,7\n", NUMBERS),
    "From and To": graph("a.csv", "From,To\nann,bob\nbob,cyd\n", NAMES),
    "sender and receiver": graph("a.csv", "receiver;sender\nbob;ann\ncyd;bob\n", NAMES),
    "Source Node,Target Node": graph("a.csv", "Source Node,Target Node\nann,bob\nbob,cyd\n", NAMES),
    "words above numbers": graph(
        "a.csv",
        "ego,alter\n1,2\n2,3\n7,9\n",
        NUMBERS,
        said="read the first line as column names (ego, alter): if it is data, use --header no",
    ),
    "words that stand nowhere else": graph(
        "a.csv",
        "ego,alter\n" + "".join(f"p{n},p{n + 1}\n" for n in range(10)),
        sorted((f"p{n}", f"p{n + 1}") if n < 9 else ("p10", "p9") for n in range(10)),
        said="read the first line as column names (ego, alter): if it is data, use --header no",
    ),
    "words that are ids": graph("a.csv", "ann,bob\nbob,cyd\n", NAMES),
    "words above a few rows": graph(
        "a.csv",
        "ego,alter\nann,bob\nbob,cyd\n",
        "a.csv: cannot tell whether the first line (ego, alter) holds names or "
        "data: its ids occur nowhere else. Use --header yes or --header no.",
    ),
    "words of which nobody knows": graph(
        "a.csv",
        "ego,alter\nann,bob\ncyd,dan\n",
        "a.csv: cannot tell whether the first line (ego, alter) holds names or "
        "data: its ids occur nowhere else. Use --header yes or --header no.",
    ),
    "known names that are ids": graph(
        "a.csv",
        "a,b\nb,c\nc,d\n",
        "a.csv: cannot tell whether the first line (a, b) holds names or data: b "
        "also occurs as an id. Use --header yes or --header no.",
    ),
    "a name and a number above numbers": graph(
        "a.csv",
        "ann,2\n1,2\n2,3\n",
        "a.csv: cannot tell whether the first line holds names or data: numbers "
        "follow below ann and below 2. Use --header yes or --header no.",
    ),
    "a header that is demanded": graph("a.csv", "x,y\nann,bob\nbob,cyd\n", NAMES, header="yes"),
    "a header that stands again": graph(
        "a.csv",
        "source,target\n1,2\nsource,target\n7,9\n",
        "a.csv, line 3: the header is repeated here, as if files were concatenated. "
        "Remove the line.",
    ),
    # Edge lists: further columns
    "weights under known names": graph(
        "a.csv",
        CALLS,
        "a.csv: 3 columns found, two needed. Extra: duration. Use --ignore-weights to ignore them.",
    ),
    "weights that are left out": graph("a.csv", CALLS, NUMBERS, ignore_weights=True),
    "an id before the ends": graph(
        "a.csv",
        "id,when,from,to\n5,1,1,2\n6,2,2,3\n7,3,7,9\n",
        NUMBERS,
        said="dropped id, when: the release does not cover them, and anyone who "
        "joins them back can single people out again",
        ignore_weights=True,
    ),
    "names that are not known": graph(
        "a.csv",
        "id,caller_number,called_number\n5,1,2\n6,2,3\n7,7,9\n",
        "a.csv: 3 columns with no known pair of names: id, caller_number, "
        "called_number. " + HOWEVER + " --source-column id --target-column caller_number "
        "--ignore-weights",
        ignore_weights=True,
    ),
    "columns by name": graph(
        "a.csv",
        "id,caller_number,called_number\n5,1,2\n6,2,3\n7,7,9\n",
        NUMBERS,
        source_column="caller_number",
        target_column="called_number",
        ignore_weights=True,
    ),
    "columns by number": graph(
        "a.csv",
        "id,caller_number,called_number\n5,1,2\n6,2,3\n7,7,9\n",
        NUMBERS,
        source_column=2,
        target_column="3",
        ignore_weights=True,
    ),
    "a column that is missing": graph(
        "a.csv",
        "id,x,y\n5,1,2\n",
        "a.csv: --source-column: no column z. Columns: id, x, y.",
        source_column="z",
        target_column="x",
    ),
    "half of the ends": graph(
        "a.csv",
        "id,x,y\n5,1,2\n",
        "a.csv: --source-column requires --target-column. Give both.",
        source_column="x",
    ),
    "two pairs of known names": graph(
        "a.csv",
        "from,to,a,b\n1,2,3,4\n",
        "a.csv: 4 columns with several possible pairs: from, to, a, b. " + MANY,
        ignore_weights=True,
    ),
    "three columns without names": graph(
        "a.txt",
        "1 2 5\n2 3 1\n7 9 2\n",
        "a.txt: 3 columns without names: columns 1 to 3. "
        + NO_TABLE
        + " --source-column 1 --target-column 2 --ignore-weights",
        ignore_weights=True,
    ),
    "trailing commas": graph(
        "a.csv",
        "1,2,\n2,3,\n7,9,\n",
        "a.csv: 3 columns without names: columns 1 to 3. "
        + HOWEVER
        + " --source-column 1 --target-column 2 --ignore-weights",
    ),
    "trailing commas under names": graph(
        "a.csv", "source,target,\n1,2,\n2,3,\n7,9,\n", NUMBERS, ignore_weights=True
    ),
    "an index before the ends, as pandas writes it": graph(
        "a.csv",
        ",source,target\n0,1,2\n1,2,3\n2,7,9\n",
        "a.csv: 3 columns found, two needed. Extra: column 1. Use --ignore-weights to ignore them.",
    ),
    "an index that is not run": graph(
        "a.csv",
        ",source,target\n0,1,2\n1,2,3\n2,7,9\n",
        NUMBERS,
        said="dropped column 1: the release does not cover them, and anyone who "
        "joins them back can single people out again",
        ignore_weights=True,
    ),
    "names of rows, as R writes them": graph(
        "a.txt",
        '"source" "target"\n"1" 1 2\n"2" 2 3\n',
        'a.txt: 2 column names ("source", "target") for rows of 3 cells. Give one name per column.',
    ),
    "empty attributes, as NetworkX writes them": graph(
        "a.txt",
        "1 2 {}\n2 3 {}\n7 9 {}\n",
        NUMBERS,
        source_column=1,
        target_column=2,
        ignore_weights=True,
    ),
    "nodes and their names": graph(
        "a.csv",
        "Id,Label\n1,ann\n2,bob\n3,cyd\n",
        "a.csv: this looks like a list of nodes (columns: Id, Label). Give the file "
        "of edges, or, if these are edges, give --source-column Id --target-column "
        "Label",
    ),
    "a matrix with names": graph(
        "a.csv",
        ",a,b,c\na,0,1,0\nb,1,0,1\nc,0,1,0\n",
        "a.csv: 4 columns like those of a matrix: (no name, number 1), a, b, c. " + MANY,
        ignore_weights=True,
    ),
    "undirected ties of Gephi": graph(
        "a.csv",
        "Source,Target,Type,Id,Weight\n1,2,Undirected,0,1.0\n2,3,Undirected,1,1.0\n"
        "7,9,Undirected,2,1.0\n",
        NUMBERS,
        ignore_weights=True,
    ),
    "directed ties of Gephi": graph(
        "a.csv",
        "Source,Target,Type,Id,Weight\n1,2,Directed,0,1.0\n2,3,Directed,1,1.0\n",
        "a.csv: the edges are directed: 0 of 2 edges are mutual (0.0%). Graphs here "
        "are undirected; to drop the directions, use --directed symmetrize.",
        ignore_weights=True,
    ),
    "a remark to a spreadsheet": graph(
        "a.csv",
        "sep=;\nsource;target\n1;2\n",
        "a.csv, line 1: sep=; is a spreadsheet directive, not data. Remove this line.",
    ),
    # Collections
    "empty lines": graph("a.txt", "1 2\n\n2 3\n\n7 9\n\n", NUMBERS),
    "comments among the lines": graph("a.txt", "1 2\n# calls\n2 3\n7 9\n", NUMBERS),
    "bare carriage returns": graph(
        "a.txt",
        "1 2\r2 3\r7 9\r",
        "a.txt: lines end in a bare carriage return. Convert them to line feeds.",
    ),
    "SNAP": graph(
        "a.txt",
        "# Undirected graph: calls.txt\n# Nodes: 5 Edges: 3\n# FromNodeId\tToNodeId\n"
        "1\t2\n2\t3\n7\t9\n",
        NUMBERS,
    ),
    "SNAP, directed": graph(
        "a.txt",
        "# Directed graph: calls.txt\n# FromNodeId\tToNodeId\n1\t2\n2\t1\n2\t3\n7\t9\n",
        "a.txt: the edges are directed: 1 of 3 edges are mutual (33.3%). Graphs here "
        "are undirected; to drop the directions, use --directed symmetrize.",
    ),
    "SNAP, every tie twice": graph(
        "a.txt", "# Directed graph\n1 2\n2 1\n2 3\n3 2\n7 9\n9 7\n", NUMBERS
    ),
    "KONECT": graph("a.txt", "% sym unweighted\n1 2\n2 3\n7 9\n", NUMBERS),
    "KONECT with weights and times": graph(
        "a.txt",
        "% sym weighted\n1 2 1 1234567\n2 3 4 1234568\n7 9 1 1234569\n",
        NUMBERS,
        said="dropped column 3, column 4: the release does not cover them, and "
        "anyone who joins them back can single people out again",
        ignore_weights=True,
    ),
    "KONECT, weights that nobody leaves out": graph(
        "a.txt",
        "% sym weighted\n1 2 1\n2 3 4\n7 9 1\n",
        "a.txt: 3 columns found, two needed. Extra: column 3. Use --ignore-weights to ignore them.",
    ),
    "SNAP, with a sign": graph(
        "a.txt",
        "# soc-sign.txt\n# FromNodeId\tToNodeId\tSign\n1\t2\t1\n2\t3\t-1\n7\t9\t1\n",
        NUMBERS,
        said="dropped Sign: the release does not cover them, and anyone who joins "
        "them back can single people out again",
        ignore_weights=True,
    ),
    "times before the ends, below a remark": graph(
        "a.txt",
        "# t i j\n20 1 2\n20 2 3\n40 7 9\n",
        "a.txt: 3 columns without names: columns 1 to 3. "
        + NO_TABLE
        + " --source-column 1 --target-column 2 --ignore-weights",
        ignore_weights=True,
    ),
    "a count line": graph("a.txt", "5 3\n1 2\n2 3\n7 9\n", NUMBERS),
    # Directions
    "some ties in both directions": graph(
        "a.csv",
        "source,target\n1,2\n2,1\n2,3\n7,9\n",
        "a.csv: the edges seem to be directed: 1 of 3 edges are mutual (33.3%). "
        "Graphs here are undirected; to drop the directions, use --directed "
        "symmetrize.",
    ),
    "some ties in both directions, forgotten": graph(
        "a.csv",
        "source,target\n1,2\n2,1\n2,3\n7,9\n",
        NUMBERS,
        said="dropped the direction of 2 arcs",
        directed="symmetrize",
    ),
    "every tie in both directions": graph("a.csv", "1,2\n2,1\n2,3\n3,2\n7,9\n9,7\n", NUMBERS),
    # What is saved instead of data
    "a web page": graph(
        "a.csv",
        "<!DOCTYPE html>\n<html><body>Please log in</body></html>\n",
        "a.csv: the content is a web page. Download the file itself.",
    ),
    "a web page as a table": table(
        "a.csv", "<html>\n", "a.csv: the content is a web page. Download the file itself."
    ),
    "a pointer to a large file": graph(
        "a.csv",
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
        "a.csv: the content is a pointer to a large file. Fetch the file itself, as with git lfs "
        "pull.",
    ),
    "a pointer under another name": likes(
        "a.parquet",
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
        "a.parquet: the content is a pointer to a large file. Fetch the file itself, as with git "
        "lfs pull.",
    ),
    # Users and items
    "user,item": likes("a.csv", "user,item\nann,tea\nann,rye\nbob,tea\n", TEA),
    "customer and product": likes("a.csv", "product;customer\ntea;ann\nrye;ann\ntea;bob\n", TEA),
    "userId and movieId": likes(
        "a.csv",
        "userId,movieId,rating,timestamp\n10,7,4.5,99\n20,7,1.0,98\n",
        {10: [7], 20: [7]},
        ignore_weights=True,
    ),
    "double colons": likes(
        "a.txt",
        "10::7::5::978300760\n20::7::3::978302109\n",
        {10: [7], 20: [7]},
        user_column=1,
        item_column=2,
        ignore_weights=True,
    ),
    "ratings without names": likes(
        "a.tsv",
        "196\t242\t3\t881250949\n186\t302\t3\t891717742\n",
        "a.tsv: 4 columns without names: columns 1 to 4. "
        + TABLE
        + (
            "users and items, use --user-column and --item-column to name them, with "
            "--ignore-weights"
        ),
    ),
    "users with their items": likes("a.txt", "ann tea rye\nbob tea\n", TEA),
    "a line of names above users with their items": likes(
        "a.txt",
        "person things\nann tea rye\nbob tea\ncyd tea rye\n",
        "a.txt: cannot tell whether the first line (things) holds names or data: "
        "its ids occur nowhere else. Use --header yes or --header no.",
    ),
    "a line of names above users with their items, said": likes(
        "a.txt",
        "person things\nann tea rye\nbob tea\ncyd tea rye\n",
        {**TEA, "cyd": ["rye", "tea"]},
        header="yes",
        layout="lists",
    ),
    "a basket a line": likes(
        "a.csv", "rye,tea\ntea\n", {0: ["rye", "tea"], 1: ["tea"]}, layout="items"
    ),
    "an order number before the ends": likes(
        "a.csv",
        "order,customer_id,item_id\n1,ann,tea\n2,ann,rye\n3,bob,tea\n",
        TEA,
        ignore_weights=True,
    ),
    "a header of pairs that stands again": likes(
        "a.csv",
        "user,item\nann,tea\nuser,item\nbob,tea\n",
        "a.csv, line 3: the header is repeated here, as if files were concatenated. "
        "Remove the line.",
    ),
    "integer ids": likes("a.csv", "user_id,item_id\n10,7\n20,7\n", {10: [7], 20: [7]}),
    # Tables
    "a table with an index, as pandas writes it": table(
        "a.csv",
        ",sex,town\n0,f,Oslo\n1,m,Rome\n",
        "a.csv, line 1: column 1 has no name. Add one.",
    ),
    "a table with ids": table("a.csv", "id,sex,town\n1,f,Oslo\n2,m,*\n", CELLS, ids="id"),
    "a table with quotes": table(
        "a.csv", 'sex,town\nf,"Bad, ""Ems"""\nm,Rome\n', {**CELLS, "town": ['Bad, "Ems"', "Rome"]}
    ),
    "a table": table("a.csv", "sex,town\nf,Oslo\nm,*\n", CELLS),
    "a table with semicolons": table("a.csv", "sex;town\nf;Oslo\nm;\n", CELLS),
    "a table with tabs": table("a.tsv", "sex\ttown\nf\tOslo\nm\t*\n", CELLS),
    "a table with pipes": table("a.csv", "sex|town\nf|Oslo\nm|*\n", CELLS),
    "a table with spaces": table("a.csv", "sex town\nf Oslo\nm *\n", CELLS, delimiter="space"),
    "a table of one column": table(
        "a.csv",
        "sex~town\nf~Oslo\nm~Bergen\n",
        "a.csv: only one column found, sex~town. If a character separates several, "
        "set it with --delimiter; to read a table of one column, use --delimiter ,",
    ),
    "one column that is meant": table("a.csv", "sex\nf\nm\n", {"sex": ["f", "m"]}, delimiter=","),
    "a table whose header stands again": table(
        "a.csv",
        "sex,town\nf,Oslo\nsex,town\nm,Rome\n",
        "a.csv: the header is repeated as row 2, as if files were concatenated. Remove this row.",
    ),
    "a table without names": table(
        "a.csv",
        "39,Private\n50,Self\n",
        "a.csv: the first line has 39 instead of a column name: --header yes if it holds names, "
        "--header no if it is data (--column-names gives names then). Use --header no",
    ),
    "a first row of a person": table(
        "a.csv",
        "ann,oslo\nbob,bergen\ncid,oslo\n",
        "a.csv: cannot tell whether the first line (ann, oslo) holds names or data: oslo also "
        "occurs below it: --header yes if it holds names, --header no if it is data "
        "(--column-names gives names then). Use --header no",
    ),
    "a first row of a person, named": table(
        "a.csv",
        "ann,oslo\nbob,bergen\ncid,oslo\n",
        {"who": ["ann", "bob", "cid"], "town": ["oslo", "bergen", "oslo"]},
        column_names=("who", "town"),
    ),
    "a name that is also a value": table(
        "a.csv",
        "sex,town\nf,town\nm,Oslo\n",
        "a.csv: cannot tell whether the first line (sex, town) holds names or data: town also "
        "occurs below it: --header yes if it holds names, --header no if it is data "
        "(--column-names gives names then). Use --header yes",
    ),
    "a table with fractions": table(
        "a.csv",
        "sex,height\nf,1.75\nm,1.80\n",
        "a.csv: column height is numeric (1.75): numbers with fractions need bins (median, "
        "quantiles:N or edges:A,B,C), as a level must be an integer. Use --bins height=median",
    ),
    "a table in text": table(
        "a.txt",
        "sex town\nf Oslo\n",
        "text cannot store a table. Use one of csv, tsv, parquet, arrow, or use "
        "--input-format csv if its lines are rows.",
    ),
    "a table below an empty line": table("a.csv", "\n \nsex,town\nf,Oslo\nm,*\n\n", CELLS),
    "rows of commas": table(
        "a.csv",
        "sex,town\nf,Oslo\nm,\n,\n",
        {"sex": ["f", "m", None], "town": ["Oslo", None, None]},
        said="counted 1 row with only missing cells as people",
    ),
    "R's missing numbers": table(
        "a.csv",
        "sex,height\nf,1.75\nm,NA\n",
        "a.csv: column height is numeric (1.75): numbers with fractions need bins (median, "
        "quantiles:N or edges:A,B,C), as a level must be an integer. Column height has NA (1x): "
        'if such a value means "missing", list it in --suppressed; if it is a value, use '
        "--categories instead. "
        "Use --bins height=median --suppressed '*' --suppressed '' --suppressed NA",
    ),
    "R's missing numbers, said": table(
        "a.csv",
        "sex,height\nf,1.75\nm,NA\n",
        {"sex": ["f", "m"], "height": ["<=1.8", None]},
        suppressed=("*", "", "NA"),
        bins={"height": "edges:1.8"},
    ),
    "Stata's missing numbers": table(
        "a.csv",
        "sex,age\nf,34\nm,.\n",
        'a.csv: column age has . (1x): if such a value means "missing", list it in --suppressed; '
        "if it is a value, use --categories instead. "
        "Use --suppressed '*' --suppressed '' --suppressed .",
    ),
    "missing texts": table(
        "a.csv",
        "sex,town\nf,Oslo\n?,NA\nm,Rome\n",
        "a.csv: column sex has ? (1x), column town has NA (1x): if such a value means "
        '"missing", list it in --suppressed; if it is a value, use --categories instead. '
        "Use --suppressed '*' --suppressed '' --suppressed '?' --suppressed NA",
    ),
    "missing texts, said": table(
        "a.csv",
        "sex,town\nf,Oslo\n?,NA\nm,Rome\n",
        {"sex": ["f", "?", "m"], "town": ["Oslo", None, "Rome"]},
        suppressed=("*", "", "NA"),
        categories=("?",),
    ),
    "a sum below": table(
        "a.csv",
        "town,sex\nOslo,f\nRome,m\nTotal,\n",
        "a.csv: the last row has Total in column town, so it may be a total rather "
        "than a person: remove a total; if it is a value, use --categories. "
        "Use --categories total",
    ),
    "a sum below, said": table(
        "a.csv",
        "town,sex\nOslo,f\nRome,m\nTotal,\n",
        {"town": ["Oslo", "Rome", "Total"], "sex": ["f", "m", None]},
        categories=("total",),
    ),
    "cells with only spaces": table(
        "a.csv",
        "sex,town\nf,Oslo\nm, \n",
        {"sex": ["f", "m"], "town": ["Oslo", " "]},
        said="column town has cells with only spaces, read as a category. If it means "
        "\"missing\", use --suppressed '*' --suppressed '' --suppressed ' '",
    ),
    "empty cells that are not suppressed": table(
        "a.csv",
        "sex,town\nf,Oslo\nm,\n",
        {"sex": ["f", "m"], "town": ["Oslo", ""]},
        suppressed=("*",),
        said="column town has empty cells, read as a category. If it means "
        "\"missing\", use --suppressed '*' --suppressed ''",
    ),
    "decimal commas": table(
        "a.csv",
        "sex;height\nf;1,75\nm;2\n",
        {"sex": ["f", "m"], "height": ["1.75", "2"]},
        decimal=",",
        exact=True,
    ),
    "commas that are not explained": table(
        "a.csv",
        "sex;height\nf;1,75\nm;2\n",
        "a.csv: column height has numbers with a comma (1,75): use --decimal , if the comma begins "
        "the fraction, or --decimal . if it is between thousands. Use --decimal ,",
        exact=True,
    ),
    "thousands": table(
        "a.csv",
        'sex,income\nf,"12,000"\nm,"13,500"\n',
        {"sex": ["f", "m"], "income": [12000, 13500]},
        decimal=".",
    ),
    "thousands with points": table(
        "a.csv",
        "sex;income\nf;1.234,50\nm;999,00\nx;-12.345.678,10\n",
        {"sex": ["f", "m", "x"], "income": ["1234.50", "999.00", "-12345678.10"]},
        decimal=",",
        exact=True,
    ),
    "a code of one column": table(
        "a.csv",
        "answer,other\n-9,-9\n3,1\n4,n.a.\n",
        {"answer": [None, 3, 4], "other": ["-9", "1", "n.a."]},
        missing={"answer": "-9,n.a."},
    ),
    "postcodes": table(
        "a.csv",
        "zip,sex\n01067,f\n10115,m\n",
        {"zip": ["01067", "10115"], "sex": ["f", "m"]},
    ),
    "a cell of two lines": table(
        "a.csv",
        'sex,town\r\nf,"Os\nlo"\r\nm,*\r\n',
        {"sex": ["f", "m"], "town": ["Os\nlo", None]},
    ),
    "a table with bins": table(
        "a.csv",
        "sex,height\nf,1.75\nm,1.80\n",
        {"sex": ["f", "m"], "height": ["<=1.77", ">1.77"]},
        bins={"height": "edges:1.77"},
    ),
}


def read(data: Data) -> Any:
    """Return what a container holds, in words of its file."""
    if isinstance(data, Graph):
        labels = data.labels().tolist()
        return [(labels[u], labels[v]) for u, v in data.edges().tolist()]
    if isinstance(data, Bipartite):
        names = data.feature_labels().tolist()
        users = data.labels().tolist()
        return {user: [names[f] for f in data.row(row)] for row, user in enumerate(users)}
    assert isinstance(data, Table)
    return data.to_arrow().to_pydict()


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_layout_is_read_as_it_is_meant_or_refused_with_the_way_out(tmp_path, layout):
    path = tmp_path / layout.name
    content = layout.content
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    load, options = LOADS[layout.kind]
    if isinstance(layout.expected, str):
        with pytest.raises(InputError) as caught:
            load(path, options(**layout.options))
        assert layout.expected == caught.value.message.flags
        return
    data, report = load(path, options(**layout.options))
    lines = [line.flags for line in report.lines()]
    assert layout.expected == read(data)
    assert layout.said is None or layout.said in lines


def test_the_table_holds_the_fifty_commonest_layouts():
    assert len(LAYOUTS) >= 50


def test_in_python_a_message_names_arguments(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y,z\n1,2,3\n")
    with pytest.raises(InputError) as caught:
        load_graph(path)
    say = 'source_column="x", target_column="y", ignore_weights=True'
    assert str(caught.value).endswith(f"options that name the two, such as {say}")
    assert 'use kind="table"' in str(caught.value)
