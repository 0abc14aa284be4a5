//! Functions that hand out memory or take it back, as frames. Which they are is listed in the crate `slowpath-interfaces`.

use crate::findings::Frame;
use slowpath_interfaces::{Memory, memory};

/// Whether a function takes memory back.
pub(crate) fn frees(frame: &Frame) -> bool {
    matches!(memory(&frame.function), Some(Memory::Takes | Memory::Moves))
}

/// Whether a function hands out memory, takes it back, or maps it.
pub(crate) fn is_allocator(frame: &Frame) -> bool {
    memory(&frame.function).is_some()
}

/// Whether a function hands out memory or takes it back. Giving whole mappings back to the kernel is no part of that.
pub(crate) fn allocates(frame: &Frame) -> bool {
    is_allocator(frame) && frame.function != "munmap"
}
