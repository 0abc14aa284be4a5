//! x
pub mod units;mod escape;mod sparkline;
