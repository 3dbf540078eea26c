//! TOML, JSON, GraphML, DOT and DagGen text -> `Graph`.
