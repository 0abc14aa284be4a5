//! Functions that look up a key among those with the same hash: a good hash leaves them one or two to go through.

use crate::pattern;

/// Names as demangled, without arguments, with `*` for any text: of C++'s unordered containers, which have a chain for each bucket.
const CHAINED: [&str; 2] =
    ["*std::_Hashtable<*>::_M_find_before_node*", "*std::_Hashtable<*>::_M_find_node*"];
/// Of LLVM's and GLib's tables, which go on with other places where one is taken.
const OPEN: [&str; 3] = ["*::LookupBucketFor*", "g_hash_table_lookup", "g_hash_table_lookup_node"];

/// Whether a function with this demangled name goes through keys with the same hash, or one behind the other where their places were taken.
pub fn searches_bucket(name: &str) -> bool {
    has_chains(name) || is_one(name, &OPEN)
}

/// Those of them that go through no other keys than those of one bucket.
pub fn has_chains(name: &str) -> bool {
    is_one(name, &CHAINED)
}

fn is_one(name: &str, of: &[&str]) -> bool {
    let name = pattern::without_arguments(name);
    of.iter().any(|pattern| pattern::fits(pattern, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_ups_in_hash_tables_are_known() {
        for (name, does) in [
            (
                "std::_Hashtable<Tile, std::pair<Tile const, int>, std::allocator<int> >::_M_find_before_node(unsigned long, Tile const&, unsigned long) const",
                true,
            ),
            ("g_hash_table_lookup", true),
            ("llvm::DenseMapBase<int>::LookupBucketFor<int>(int const&) const", true),
            ("std::_Hashtable<int, int>::_M_rehash(unsigned long)", false),
            ("g_hash_table_insert", false),
            ("find_node", false),
        ] {
            assert_eq!(searches_bucket(name), does, "{name}");
            assert_eq!(has_chains(name), does && name.starts_with("std"), "{name}");
        }
    }
}
