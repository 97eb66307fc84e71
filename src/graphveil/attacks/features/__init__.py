"""Attacks on rows: user-item data, and tables as their one-hot features.

`released_classes.py` holds a release as its distinct rows and scores what is known of a person
against them; `scoring.py` draws conclusions from it; `whole_rows.py` assigns all people of a table
at once. `linkage.py`, `membership.py`, `item_membership.py`, `class_truth.py` and `intersection.py`
are attacks on classes; ``cells`` holds those on columns and suppressed cells. `counterfactual.py`
makes releases that exclude some people, `rerunning.py` runs the method with one item changed.
"""
