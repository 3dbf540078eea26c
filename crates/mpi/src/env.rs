//! Start and end, versions, clock (MPI 5.0, chapters 9 and 11).
