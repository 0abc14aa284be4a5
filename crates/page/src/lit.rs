//! What a finding is about, as numbers of the recording: its links in the page light these up.

use serde::Serialize;
use slowpath_diagnose::Evidence;
use slowpath_diagnose::findings::{Finding, Frame};
use std::collections::{BTreeSet, HashMap};

/// See the file's head.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct Lit {
    /// Numbers of the guilty function: more than one where several have its name, module and place.
    pub guilty: BTreeSet<u32>,
    /// Functions of its call path, the guilty one left out.
    pub path: BTreeSet<u32>,
    /// Files concerned.
    pub files: BTreeSet<u32>,
}

/// Functions and files by name.
pub(crate) struct Index {
    functions: HashMap<(String, String), Vec<u32>>,
    files: HashMap<String, Vec<u32>>,
}

impl Index {
    pub(crate) fn new(evidence: &Evidence<'_>) -> Index {
        let tables = &evidence.recording.tables;
        let mut functions: HashMap<_, Vec<u32>> = HashMap::new();
        for function in 0..tables.functions.len() as u32 {
            let key = (evidence.name(function).to_owned(), evidence.module(function));
            functions.entry(key).or_default().push(function);
        }
        let mut files: HashMap<_, Vec<u32>> = HashMap::new();
        for file in &tables.files {
            files.entry(file.path.clone()).or_default().push(file.file);
        }
        Index { functions, files }
    }

    fn of(&self, frame: &Frame) -> impl Iterator<Item = u32> + '_ {
        let key = (frame.function.clone(), frame.module.clone());
        self.functions.get(&key).into_iter().flatten().copied()
    }

    pub(crate) fn lit(&self, finding: &Finding) -> Lit {
        let guilty = Frame {
            function: finding.function.clone(),
            module: finding.module.clone(),
            file: None,
            line: None,
        };
        let guilty: BTreeSet<u32> = self.of(&guilty).collect();
        let path = finding.path.iter().flat_map(|frame| self.of(frame));
        let path = path.filter(|function| !guilty.contains(function)).collect();
        let files = finding.files.iter().filter_map(|file| self.files.get(file)).flatten().copied().collect();
        Lit { guilty, path, files }
    }
}
