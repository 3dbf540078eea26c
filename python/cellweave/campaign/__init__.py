"""Campaigns: a grid of plans or simulated runs, worked off on a Dask cluster, kept row by row in Parquet.

============  ===========================================================================================
definition    the file of a campaign, and the cells of its grid
cell          what a worker does: one cell, one row
store         the folder that keeps the rows; it is locked while a campaign runs
cluster       a local cluster, or a scheduler at an address; refuses workers with another version
run           the loop: cells out, rows in
summary       groups of rows, as a table and as a picture
============  ===========================================================================================

Only `cell` is imported by workers; it needs neither Dask nor Parquet.
"""
