//! Which finding is reported where a search over data that grows shows two causes.

use super::{CAUSE, GROWING, NEARLY_ALL};
use crate::candidate::Candidate;
use crate::causes::{SUPERLINEAR_WORK, Spec, superlinear_work};
use crate::findings::{Confidence, Frame};
use std::collections::HashSet;

/// A search that is repeated over data which grows with it shows both causes. How it grows says more, if that was seen; a fall, as where
/// each document starts over, says less than where the searches begin, and so does growth that may have another explanation.
pub(in crate::causes) fn settle(found: &mut Vec<Candidate>) {
    let is = |one: &Candidate, spec: &Spec| one.finding.cause == spec.cause();
    let is_scan = |one: &Candidate| is(one, &CAUSE) || one.finding.variant == GROWING;
    let functions = |which: &dyn Fn(&Candidate) -> bool| -> HashSet<(String, String)> {
        found.iter().filter(|one| which(one)).flat_map(Candidate::functions).collect()
    };
    let scans = functions(&is_scan);
    let growing = functions(&|one| {
        let sure = one.finding.confidence != Confidence::Hint && !superlinear_work::falls(&one.finding);
        is(one, &SUPERLINEAR_WORK) && !is_scan(one) && sure && !superlinear_work::is_of_copies(&one.finding)
    });
    let among = |one: &Candidate, known: &HashSet<(String, String)>| {
        known.iter().any(|(function, module)| one.is_about((function, module)))
    };
    // A function that grows because of a search in what it calls, or what was inlined into it: the search is named, unless the growth is surer than what was
    // seen of the search.
    let inner: Vec<Candidate> = found.iter().filter(|one| one.finding.variant == GROWING).cloned().collect();
    let is_outer = |one: &Candidate| {
        let surer = |other: &&Candidate| other.finding.confidence >= one.finding.confidence;
        inner.iter().filter(surer).any(|other| holds(one, other))
    };
    // What is left to go through falls: the search says how it goes through that.
    let searches: Vec<Candidate> = found.iter().filter(|one| is(one, &CAUSE)).cloned().collect();
    let is_around = |one: &Candidate| {
        superlinear_work::falls(&one.finding) && searches.iter().any(|other| holds(one, other))
    };
    let outer = |one: &&Candidate| {
        is(one, &SUPERLINEAR_WORK) && !is_scan(one) && !superlinear_work::falls(&one.finding)
    };
    let outer: Vec<Candidate> = found.iter().filter(outer).cloned().collect();
    let is_inner = |one: &Candidate| {
        let surer = |other: &&Candidate| other.finding.confidence > one.finding.confidence;
        one.finding.variant == GROWING && outer.iter().filter(surer).any(|other| holds(other, one))
    };
    found.retain(|one| match one {
        one if is_scan(one) => !among(one, &growing) && !is_inner(one),
        one if is(one, &SUPERLINEAR_WORK) && (is_outer(one) || is_around(one)) => false,
        one if superlinear_work::is_of_copies(&one.finding) => true,
        one if is(one, &SUPERLINEAR_WORK) => among(one, &growing) || !among(one, &scans),
        _ => true,
    });
}

/// Whether nearly all that one finding costs is that of another one, in a function that it calls or that was inlined into it.
fn holds(outer: &Candidate, inner: &Candidate) -> bool {
    let (function, module) = outer.function();
    let has = |frame: &Frame| (frame.function.as_str(), frame.module.as_str()) == (function, module);
    let (all, part) = (outer.finding.cost.amount() as f64, inner.finding.cost.amount() as f64);
    outer.process == inner.process
        && inner.function() != (function, module)
        && inner.finding.place.path.iter().any(has)
        && part >= NEARLY_ALL * all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::Draft;
    use crate::findings::{Basis, Cost, Place};
    use crate::gate::Gate;

    fn frame(function: &str) -> Frame {
        Frame {
            function_id: None,
            function: function.to_owned(),
            module: "program".to_owned(),
            file: None,
            line: None,
        }
    }

    /// Growth of `add`, and a search in `find` on this path, of so much of the same time.
    fn left(sure: Confidence, searched: Confidence, path: &[&str], cost: f64) -> Vec<&'static str> {
        let of = |confidence, variant, path: &[&str], cost: f64| {
            let path: Vec<Frame> = path.iter().map(|name| frame(name)).collect();
            let place = Place { frame: path.last().expect("it has one").clone(), path };
            let draft =
                Draft::new(&SUPERLINEAR_WORK, "", confidence, Cost::new(Basis::Cpu, cost, cost), place);
            let finding = Draft { variant, ..draft }.finding(100, |_| true);
            Candidate { finding, gate: Gate::TENTH_OF_WALL, process: 0 }
        };
        let mut found = vec![of(sure, "", &["main", "add"], 100.0), of(searched, GROWING, path, cost)];
        settle(&mut found);
        found.into_iter().map(|one| one.finding.variant).collect()
    }

    #[test]
    fn a_search_in_a_function_that_grows_is_told_once_by_what_is_surer() {
        use Confidence::{Certain, Likely};
        let inside = ["main", "add", "find"];
        assert_eq!(left(Certain, Likely, &inside, 100.0), [""]);
        assert_eq!(left(Likely, Likely, &inside, 100.0), [GROWING], "the search is the inner one");
        assert_eq!(left(Certain, Likely, &["main", "find"], 100.0), ["", GROWING], "it is elsewhere");
        let less = 100.0 * NEARLY_ALL - 1.0;
        assert_eq!(left(Certain, Likely, &inside, less), ["", GROWING], "something else grows as well");
    }

    #[test]
    fn what_falls_around_a_search_is_told_by_the_search() {
        let of = |spec: &'static Spec, variant, path: &[&str], cost: f64| {
            let path: Vec<Frame> = path.iter().map(|name| frame(name)).collect();
            let place = Place { frame: path.last().expect("it has one").clone(), path };
            let draft = Draft::new(spec, "", Confidence::Likely, Cost::new(Basis::Cpu, cost, cost), place);
            let finding = Draft { variant, ..draft }.finding(100, |_| true);
            Candidate { finding, gate: Gate::TENTH_OF_WALL, process: 0 }
        };
        let left = |variant, path: &[&str], cost| {
            let around = of(&SUPERLINEAR_WORK, variant, &["main", "number"], 100.0);
            let mut found = vec![of(&CAUSE, "", path, cost), around];
            settle(&mut found);
            found.len()
        };
        let falling = superlinear_work::FALLING;
        assert_eq!(left(falling, &["main", "number", "is_float"], 100.0), 1);
        assert_eq!(left(falling, &["main", "is_float"], 100.0), 2, "it is elsewhere");
        assert_eq!(left(falling, &["main", "number", "is_float"], 90.0), 2, "something else falls as well");
    }
}
