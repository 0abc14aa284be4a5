//! Runs code of others that may panic on files from outside: Parquet's reader takes for granted that a file is as its writers write it. A panic there
//! is an error like others, and is not printed.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// What `run` returns; none if it panicked. What it borrows may then be half changed: it is for the caller to throw that away.
pub(crate) fn guarded<T>(run: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                before(panic);
            }
        }));
    });
    let before = QUIET.replace(true);
    let ran = catch_unwind(AssertUnwindSafe(run));
    QUIET.set(before);
    ran.ok()
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_is_none_and_what_comes_after_it_is_heard_again() {
        assert_eq!(guarded(|| 1), Some(1));
        assert_eq!(guarded(|| -> u32 { panic!("not to be seen") }), None);
        assert!(!super::QUIET.get());
    }
}
