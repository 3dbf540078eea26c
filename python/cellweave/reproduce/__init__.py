"""Published beside obtained: the papers' measurements, repeated on the simulated machine.

============  ===========================================================================================
facts         the published figures, the groups that vote, what is left out
verdict       how an obtained figure is set against a published one
experiments   a file per paper: what exactly is measured and tested
bench         what they measure with
run           ids to results; rule sets
summary       one vote per group
tables, page  what people see
============  ===========================================================================================
"""
