//! A tool process that misbehaves on request.

fn main() {}
