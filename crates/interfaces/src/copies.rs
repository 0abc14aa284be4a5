//! Functions that make a copy of what they are given, and which argument that is.

use crate::without_arguments;

/// What is copied, by the numbers of arguments from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copied {
    /// So many bytes as the third argument says, from the second one on.
    Bytes,
    /// What an argument points to, with all that belongs to it.
    Object(u8),
    /// What the second argument points to, where the first says where the copy goes: what is larger than two registers is returned so.
    Returned,
}

/// Functions of libraries in C that copy a document, a tree or a list, and the argument that it is.
const IN_C: [(&str, u8); 12] = [
    ("xmlCopyDoc", 1),
    ("xmlCopyNode", 1),
    ("xmlDocCopyNode", 1),
    ("cJSON_Duplicate", 1),
    ("json_copy", 1),
    ("json_deep_copy", 1),
    ("json_object_deep_copy", 1),
    ("g_strdupv", 1),
    ("g_list_copy_deep", 1),
    ("g_array_copy", 1),
    ("X509_dup", 1),
    ("BN_dup", 1),
];
/// The C library's, with the names of its variants for each kind of processor, and Go's.
const BYTES: [&str; 3] = ["memcpy", "memmove", "mempcpy"];
const BYTES_IN_GO: &str = "runtime.memmove";
/// Smart pointers, and containers that are shared until one is changed: a copy of one is a count.
const POINTERS: [&str; 16] = [
    "std::shared_ptr",
    "std::__shared_ptr",
    "std::__shared_count",
    "std::__weak_ptr",
    "boost::shared_ptr",
    "boost::intrusive_ptr",
    "boost::weak_ptr",
    "QString",
    "QList",
    "QByteArray",
    "QVector",
    "cv::Mat",
    "bytes::bytes::Bytes",
    "std::weak_ptr",
    "alloc::sync::Arc",
    "alloc::rc::Rc",
];

/// What a function with this demangled name copies; none if it is not known to.
pub fn copied(name: &str) -> Option<Copied> {
    let plain = name.trim_start_matches('_').split('@').next().unwrap_or_default();
    let is_bytes = |known: &&str| {
        plain.strip_prefix(*known).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    if BYTES.iter().any(is_bytes) || name == BYTES_IN_GO {
        return Some(Copied::Bytes);
    }
    if let Some((_, argument)) = IN_C.iter().find(|(known, _)| *known == name) {
        return Some(Copied::Object(*argument));
    }
    if POINTERS.iter().any(|pointer| name.trim_start_matches('<').starts_with(pointer)) {
        return None;
    }
    if name.starts_with('<') && name.ends_with(" as core::clone::Clone>::clone") {
        return Some(Copied::Returned);
    }
    is_copied_in_cpp(name).then_some(Copied::Object(2))
}

/// Parts of C++'s containers that copy what is in them: what is left of a copy constructor that was inlined.
const PARTS: [&str; 6] =
    ["_M_copy", "__do_uninit_copy", "_M_clone_node", "_M_assign", "_M_assign_elements", "__uninit_copy"];

/// Whether a function with this demangled name copies an object as a whole, or is the part of a container that copies its items. What its arguments
/// are is not known.
pub fn copies_objects(name: &str) -> bool {
    let of_container = || {
        let function = without_arguments(name);
        // Templates: `std::_Rb_tree<…>::_M_copy<…>`, behind what they return.
        function.contains("std::")
            && PARTS.iter().any(|part| {
                let begins = |(at, _): (usize, &str)| {
                    let (before, behind) = (&function[..at], &function[at + part.len()..]);
                    before.ends_with("::") && (behind.is_empty() || behind.starts_with('<'))
                };
                function.match_indices(part).any(begins)
            })
    };
    copied(name).is_some_and(|copied| copied != Copied::Bytes) || of_container()
}

/// Whether one of these puts the copy in the place of what was there.
pub fn assigns_objects(name: &str) -> bool {
    let function = without_arguments(name);
    let member = function.rsplit("::").next().unwrap_or_default();
    member == "operator=" || member.starts_with("_M_assign")
}

/// Whether a function with this demangled name destroys an object.
pub fn destroys_objects(name: &str) -> bool {
    without_arguments(name).contains("::~") || name.starts_with("core::ptr::drop_in_place")
}

/// `T::T(T const&)` and `T::operator=(T const&)`.
fn is_copied_in_cpp(name: &str) -> bool {
    let function = without_arguments(name);
    let class = name[function.len()..].strip_prefix('(').and_then(|rest| rest.strip_suffix(" const&)"));
    let Some(member) = class.and_then(|class| function.strip_prefix(class)?.strip_prefix("::")) else {
        return false;
    };
    let class = class.map(without_parameters).unwrap_or_default();
    member == "operator=" || class.rsplit("::").next() == Some(member)
}

/// A class without the parameters of its template: `std::vector<int>` is `std::vector`.
fn without_parameters(class: &str) -> &str {
    class.split_once('<').map_or(class, |(plain, _)| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_containers_copy_their_items() {
        for (name, does) in [
            (
                "std::_Rb_tree<int, int>::_Link_type* std::_Rb_tree<int, int>::_M_copy<false>(int*, int*)",
                true,
            ),
            ("Rule* std::__do_uninit_copy<Rule const*, Rule*>(Rule const*, Rule const*, Rule*)", true),
            ("World::World(World const&)", true),
            ("<proxy::Config as core::clone::Clone>::clone", true),
            ("memcpy", false),
            ("disk::_M_copy(int)", false),
            ("std::vector<int>::_M_assign_aux(int)", false),
            ("std::vector<int>::push_back(int&&)", false),
        ] {
            assert_eq!(copies_objects(name), does, "{name}");
        }
    }

    #[test]
    fn functions_that_assign_are_known_by_their_names() {
        for (name, does) in [
            ("World::operator=(World const&)", true),
            (
                "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_assign(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)",
                true,
            ),
            ("World::World(World const&)", false),
            ("<world::World as core::clone::Clone>::clone", false),
        ] {
            assert_eq!(assigns_objects(name), does, "{name}");
        }
    }

    #[test]
    fn functions_that_destroy_are_known_by_their_names() {
        for (name, does) in [
            ("World::~World()", true),
            ("std::vector<World, std::allocator<World> >::~vector()", true),
            ("core::ptr::drop_in_place<world::World>", true),
            ("World::World(World const&)", false),
            ("destroy(std::function<void (World::~World)>)", false),
        ] {
            assert_eq!(destroys_objects(name), does, "{name}");
        }
    }

    #[test]
    fn functions_that_copy_are_known_by_their_names() {
        for (name, what) in [
            ("memcpy", Some(Copied::Bytes)),
            ("__memmove_avx_unaligned_erms", Some(Copied::Bytes)),
            ("memcpy@plt", Some(Copied::Bytes)),
            ("runtime.memmove", Some(Copied::Bytes)),
            ("memcpyish", None),
            ("xmlCopyDoc", Some(Copied::Object(1))),
            ("<proxy::Config as core::clone::Clone>::clone", Some(Copied::Returned)),
            ("<alloc::vec::Vec<T> as core::clone::Clone>::clone", Some(Copied::Returned)),
            ("<alloc::sync::Arc<T> as core::clone::Clone>::clone", None),
            ("proxy::clone", None),
            ("World::World(World const&)", Some(Copied::Object(2))),
            ("a::World::operator=(a::World const&)", Some(Copied::Object(2))),
            (
                "std::vector<int, std::allocator<int> >::vector(std::vector<int, std::allocator<int> > const&)",
                Some(Copied::Object(2)),
            ),
            ("std::shared_ptr<int>::shared_ptr(std::shared_ptr<int> const&)", None),
            ("World::World(int const&)", None),
            ("World::add(World const&)", None),
            ("World::World(World&&)", None),
        ] {
            assert_eq!(copied(name), what, "{name}");
        }
    }
}
