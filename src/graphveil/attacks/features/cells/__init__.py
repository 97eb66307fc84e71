"""A release as cells of classes: what columns publish, and attacks on the cells they suppress.

`admitted_values.py` says which values a published cell admits, for `linkage`. `published_cells.py`
reads a release as classes times columns. `singling_out.py` and `insider.py`
attack what is published; `minimality.py` asks what it means that a cell is suppressed
(`suppressed_cells.py`) or generalized (`generalized_cells.py`); `refinement.py` which values the
method's own choices exclude (`choice_constraints.py`).
"""
