//! `ps3`, `cell`, `qs20`, `qs22` with the limits of `streaming-schedule`, equations (1) to (9).
