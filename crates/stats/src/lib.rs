//! Growth fits, ranks, counts and intervals: pure functions on numbers.
//!
//! Nothing here knows about recordings, functions or reports: callers bring slices of numbers and judge
//! what comes back. No function panics, and none returns NaN for finite input; where there is no answer,
//! the return type says so.
//!
//! - [`growth()`]: how the cost of a call develops with its number: flat, a power, steps, or unclear
//! - [`spearman`]: do two series rise together, whatever the curve?
//! - [`order_p`]: did values come in order by chance?
//! - [`line()`]: a straight line by (weighted) least squares
//! - [`count_fit`]: "call k makes a·k + b calls"
//! - [`rate_ratio_interval`]: how sure is the ratio of two counted rates?
//! - [`bootstrap_median`], [`signed_rank_p`], [`student_interval`], [`spent`]: do the pairs of a comparison differ?
//! - [`power_law`], [`quadratic`]: how a cost rises with the size of the input
//! - [`mean`], [`median`], [`quantile`]: the middle of a sample

mod counts;
mod growth;
mod line;
mod order;
mod paired;
mod rank;
mod rates;
mod robust;
mod sizes;

pub use counts::{CountFit, count_fit};
pub use growth::{Growth, Point, Ramp, Shape, growth};
pub use line::{Line, line};
pub use order::order_p;
pub use paired::{bootstrap_median, signed_rank_p, spent, student_interval};
pub use rank::spearman;
pub use rates::rate_ratio_interval;
pub use robust::{mean, median, quantile};
pub use sizes::{Affine, PowerLaw, affine, power_law, quadratic};
