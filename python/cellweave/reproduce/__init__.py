"""Published beside obtained: the papers' measurements, repeated on the simulated machine.

============  ===========================================================================================
facts         the published figures, the groups that vote, what is left out
verdict       how an obtained figure is compared with a published one
experiments   a file per paper: what exactly is measured and tested
bench         the measurements that experiments are made of
run           ids to results; rule sets
summary       one vote per group
tables, page  how results are shown
============  ===========================================================================================
"""
