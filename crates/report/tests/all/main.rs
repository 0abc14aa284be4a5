//! What the report says of one recording and of two, in each of its forms; one program for all of them.

#[path = "../common/mod.rs"]
mod common;

mod comparison;
mod json;
mod markdown;
mod terminal;
