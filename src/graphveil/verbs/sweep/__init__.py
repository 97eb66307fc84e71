"""Methods over a grid of parameters: points, the folder that keeps them, workers, and the table.

Nothing here measures or attacks: the verb hands over the function that runs a point.
"""
