//! Functions of libraries that are meant to be called once for an input, because what they return can be kept: regular expressions that are
//! compiled, statements that are prepared, contexts that are made. The list is `interfaces.toml`, which says what its fields mean.
//!
//! The collector notes the input of their calls, as far as an [`Input`] says where it is; the diagnosis says whether it was always the same.

mod buckets;
mod copies;
mod costly;
mod fills;
mod formats;
mod matchers;
mod memory;
mod pattern;
mod sorting;

pub use buckets::{has_chains, searches_bucket};
pub use copies::{Copied, assigns_objects, copied, copies_objects, destroys_objects};
pub use costly::{Costly, Helper, costly, in_source};
pub use fills::fills;
pub use formats::formats;
pub use matchers::matches;
pub use memory::{Memory, is_barrier, memory, memory_by_call};
pub use pattern::without_arguments;
pub use sorting::{converts, reads_a_value, sorts, sorts_many};

use serde::Deserialize;
use std::str::FromStr;
use std::sync::OnceLock;

/// One function.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// Its demangled name without arguments, with `*` for any text.
    pub function: String,
    /// What tells one input from another.
    #[serde(deserialize_with = "input")]
    pub input: Input,
    /// What it does, in the third person.
    pub does: String,
    /// What to do instead, in the imperative.
    pub instead: String,
    /// The manual that says so.
    pub source: String,
    /// The share of the CPU time, in per cent, from which on it is worth a change; none for the usual one.
    #[serde(default)]
    pub percent: Option<u32>,
    /// Calls that its own library makes do not count: whoever calls that cannot keep the answer.
    #[serde(default)]
    pub direct: bool,
}

/// Which arguments tell one input from another, counted from 1 as they are passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// What is given.
    pub what: What,
    /// What else must be the same.
    pub beside: Vec<Beside>,
}

/// What a function is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A pointer to a text that ends with a zero byte.
    Text(u8),
    /// A pointer to memory, and its length in elements of so many bytes, as 32 bits: if it is negative the text ends with a zero.
    Bytes(u8, u8, u64),
    /// A pointer to memory, and one to its end.
    Range(u8, u8),
    /// A number of 32 bits.
    Number(u8),
    /// Nothing that matters.
    None,
}

/// An argument that must be the same as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// A number of 32 bits.
    Number(u8),
    /// A pointer.
    Pointer(u8),
}

impl Beside {
    /// Its number.
    fn argument(self) -> u8 {
        let (Beside::Number(at) | Beside::Pointer(at)) = self;
        at
    }

    /// The part of an argument that counts.
    pub fn part(self, argument: u64) -> u64 {
        match self {
            Beside::Number(_) => u64::from(argument as u32),
            Beside::Pointer(_) => argument,
        }
    }
}

/// Arguments that are passed in registers, in C and in Go.
const ARGUMENTS: u8 = 6;
/// Arguments of a call that an input may take.
pub const NOTED: usize = 3;

impl Input {
    /// The arguments that are to be noted, in order: those of [`Input::what`], then those of [`Input::beside`].
    pub fn arguments(&self) -> Vec<u8> {
        let mut arguments = self.what.arguments();
        arguments.extend(self.beside.iter().map(|one| one.argument()));
        arguments
    }

    /// Whether what is given must be at the same place as well.
    pub fn is_in_place(&self) -> bool {
        let first = self.what.arguments().first().copied();
        self.beside.iter().any(|one| matches!(one, Beside::Pointer(at) if Some(*at) == first))
    }
}

impl What {
    /// The arguments that say what is given, in order.
    pub fn arguments(self) -> Vec<u8> {
        match self {
            What::Text(at) | What::Number(at) => vec![at],
            What::Bytes(at, of, _) | What::Range(at, of) => vec![at, of],
            What::None => Vec::new(),
        }
    }

    /// Bytes of the memory at `begin`, given what the second argument is; none for a text, which ends by itself.
    pub fn length(self, begin: u64, second: u64) -> Option<u64> {
        match self {
            What::Bytes(_, _, size) => u64::try_from(second as i32).ok().map(|length| length * size),
            What::Range(..) => Some(second.saturating_sub(begin)),
            What::Text(_) | What::Number(_) | What::None => None,
        }
    }
}

impl FromStr for Input {
    type Err = String;

    fn from_str(text: &str) -> Result<Input, String> {
        let wrong = || format!("{text:?} is no input: see the head of interfaces.toml");
        let term = |term: &str| -> Result<(String, Vec<u8>), String> {
            let mut words = term.split(' ');
            let kind = words.next().unwrap_or_default().to_owned();
            let numbers = words.map(str::parse).collect::<Result<Vec<u8>, _>>();
            let numbers = numbers.map_err(|error| format!("{text:?}: {error}"))?;
            let known = numbers.iter().all(|number| (1..=ARGUMENTS).contains(number));
            if known { Ok((kind, numbers)) } else { Err(wrong()) }
        };
        let mut terms = text.split(", ").map(term);
        let (kind, numbers) = terms.next().unwrap_or_else(|| Err(wrong()))?;
        let what = match (kind.as_str(), numbers.as_slice()) {
            ("text", [at]) => What::Text(*at),
            ("bytes", [at, of]) => What::Bytes(*at, *of, 1),
            ("units", [at, of]) => What::Bytes(*at, *of, 2),
            ("range", [at, to]) => What::Range(*at, *to),
            ("number", [at]) => What::Number(*at),
            ("none", []) => What::None,
            _ => return Err(wrong()),
        };
        let beside = |(kind, numbers): (String, Vec<u8>)| match (kind.as_str(), numbers.as_slice()) {
            ("number", [at]) => Ok(Beside::Number(*at)),
            ("pointer", [at]) => Ok(Beside::Pointer(*at)),
            _ => Err(wrong()),
        };
        let beside = terms.map(|term| beside(term?)).collect::<Result<Vec<_>, _>>()?;
        let input = Input { what, beside };
        if input.arguments().len() <= NOTED { Ok(input) } else { Err(wrong()) }
    }
}

fn input<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Input, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

#[derive(Deserialize)]
struct File {
    interface: Vec<Interface>,
}

/// All of them; empty if the list that was built in could not be read, which a test excludes.
pub fn all() -> &'static [Interface] {
    static ALL: OnceLock<Vec<Interface>> = OnceLock::new();
    ALL.get_or_init(|| parse(include_str!("../interfaces.toml")).unwrap_or_default())
}

/// Reads a list. The error says what is wrong, and where.
pub fn parse(text: &str) -> Result<Vec<Interface>, String> {
    toml::from_str::<File>(text).map(|file| file.interface).map_err(|error| error.to_string())
}

/// The interface that a function is, by its demangled name, with or without arguments.
pub fn of(name: &str) -> Option<&'static Interface> {
    let name = pattern::without_arguments(name);
    all().iter().find(|one| pattern::fits(&one.function, name))
}
