//! The gallery.
