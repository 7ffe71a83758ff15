//! The one integration test binary: one link, one world. A file in this folder that isn't listed here fails
//! `layers::every_test_file_is_listed`.

#[expect(dead_code, reason = "packages come with `test`, which lands next")]
mod world;

mod call;
mod codes;
mod command_line;
mod completions;
mod demo;
mod fake;
mod generated;
mod init;
mod install;
mod json;
mod layers;
mod templates;
mod test;
mod update;
mod validate;
