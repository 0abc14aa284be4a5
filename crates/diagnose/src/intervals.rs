//! Intervals of time, ns: from, to.

/// The intervals joined where they overlap or touch, in order.
pub(crate) fn union(mut of: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    of.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::with_capacity(of.len());
    for (from, to) in of {
        match joined.last_mut() {
            Some((_, until)) if from <= *until => *until = to.max(*until),
            _ => joined.push((from, to)),
        }
    }
    joined
}

/// Length of all of them together, ns, where they are disjoint.
pub(crate) fn length(of: &[(u64, u64)]) -> f64 {
    of.iter().map(|(from, to)| to.saturating_sub(*from)).sum::<u64>() as f64
}

/// What is left of an interval without others, which are in order and disjoint.
pub(crate) fn without((mut from, to): (u64, u64), others: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut left = Vec::new();
    for (start, end) in &others[others.partition_point(|(_, end)| *end <= from)..] {
        if *start >= to {
            break;
        }
        left.push((from, *start));
        from = *end;
    }
    left.push((from, to));
    left.retain(|(from, to)| from < to);
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_and_touching_intervals_are_joined() {
        assert_eq!(union(vec![(5, 6), (1, 3), (2, 4), (4, 5), (8, 9)]), [(1, 6), (8, 9)]);
        assert_eq!(length(&[(1, 6), (8, 9)]), 6.0);
    }

    #[test]
    fn what_others_cover_is_left_out() {
        let others = [(0, 2), (4, 6), (8, 20)];
        assert_eq!(without((1, 10), &others), [(2, 4), (6, 8)]);
        assert_eq!(without((2, 4), &others), [(2, 4)]);
        assert!(without((9, 12), &others).is_empty());
        assert_eq!(without((21, 22), &others), [(21, 22)]);
    }
}
