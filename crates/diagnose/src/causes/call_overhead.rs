//! The fixed cost of each call outweighs its work. One run cannot show that: `slowpath scale --calls` finds it, from runs with as many
//! calls at several sizes (`slowpath_compare::overhead`).

use super::{Find, Spec};

/// See the file's head.
pub const CAUSE: Spec = Spec {
    slug: "call-overhead",
    title: "high fixed cost per call",
    symptom: "time of a call = fixed + bytes, and most of it is fixed",
    not_known: "how much of this is spent once per run and not once per call",
    page: include_str!("../../../../docs/causes/call-overhead.md"),
    needs: &[],
    find: Find::AcrossSizes,
};
