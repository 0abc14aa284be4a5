//! The order of the list: letters as in `u,P,-p,i`, a minus for descending.
use std::cmp::Ordering;

use crate::job::Job;
use crate::users::Users;

fn compare_user(a: &Job, b: &Job, users: &Users) -> Ordering {
    let left = users.uid_to_string(a.uid);
    let right = users.uid_to_string(b.uid);
    left.cmp(&right)
}

fn compare_field(field: char, a: &Job, b: &Job, users: &Users) -> Ordering {
    match field {
        'i' => a.id.cmp(&b.id),
        'j' => a.name.cmp(&b.name),
        'u' => compare_user(a, b, users),
        'P' => a.partition.cmp(&b.partition),
        't' => a.state.cmp(&b.state),
        'p' => a.priority.cmp(&b.priority),
        'D' => a.nodes.cmp(&b.nodes),
        'M' => a.elapsed.cmp(&b.elapsed),
        _ => Ordering::Equal,
    }
}

pub fn sort_jobs(jobs: &mut [Job], order: &str, users: &Users) {
    let keys: Vec<(bool, char)> = order
        .split(',')
        .filter_map(|k| match k.strip_prefix('-') {
            Some(rest) => rest.chars().next().map(|c| (true, c)),
            None => k.chars().next().map(|c| (false, c)),
        })
        .collect();
    jobs.sort_by(|a, b| {
        for &(descending, field) in &keys {
            let order = compare_field(field, a, b, users);
            if order != Ordering::Equal {
                return if descending { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    });
}
