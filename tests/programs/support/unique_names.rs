//! Names without duplicates, found by looking at all of them. A crate of its own, as a library is.

#[derive(Default)]
pub struct UniqueNames {
    names: Vec<String>,
}

impl UniqueNames {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a name unless it is there already.
    pub fn add(&mut self, name: String) {
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
