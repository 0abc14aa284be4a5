//! Whether a recording was made on this machine. Recordings are sent around, and who made one wrote what is in it: only of
//! one's own can it be believed that `directory` is a folder here that somebody worked in.
//!
//! A host's name proves nothing, since everybody can guess it. The machine's id (`machine-id(5)`) is not to leave the machine:
//! a hash of it with what it vouches for does, in `about.json`.

use crate::About;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Where the id is, the lasting one first; the last is of this boot only, for containers that have no other.
const IDS: [&str; 3] = ["/etc/machine-id", "/var/lib/dbus/machine-id", "/proc/sys/kernel/random/boot_id"];

impl About {
    /// Vouches that this machine made it: to be called when `directory`, `command`, `attached` and `started_unix_ns` are set.
    pub fn vouch(&mut self) {
        self.machine = id().map(|id| self.hash(&id));
    }

    /// Whether this machine vouched for it, and for the same folder and program. False of recordings of older versions.
    pub fn is_from_here(&self) -> bool {
        self.machine.is_some() && self.machine == id().map(|id| self.hash(&id))
    }

    fn hash(&self, id: &str) -> String {
        let program = self.command.first().map_or("", String::as_str);
        let mut told = Sha256::new();
        for field in [&self.directory, program] {
            told.update((field.len() as u64).to_le_bytes());
            told.update(field);
        }
        told.update(self.started_unix_ns.to_le_bytes());
        told.update([u8::from(self.attached)]);
        // Hashed twice: what stands behind the id is then as long in all recordings, and nothing can be added to it.
        let whole = Sha256::new().chain_update("slowpath\0").chain_update(id).chain_update(told.finalize());
        whole.finalize().iter().fold(String::new(), |mut hex, byte| {
            // A string takes everything.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

/// The machine's id; none if it has none yet.
fn id() -> Option<String> {
    let read = |path: &&str| std::fs::read_to_string(path).ok();
    let digits = |text: String| text.chars().filter(char::is_ascii_hexdigit).collect::<String>();
    IDS.iter().filter_map(read).map(digits).find(|id| id.len() == 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about() -> About {
        serde_json::from_value(serde_json::json!({
            "format": {"major": 1, "minor": 0}, "slowpath": "0", "id": "x", "state": "complete", "command": ["./a", "b"],
            "directory": "/home/somebody/project", "host": "h", "kernel": "k", "cpu": "c", "cpus": 1, "started_unix_ns": 1,
            "start_ns": 0, "wall_ns": 5, "user_ns": 3, "sys_ns": 1, "exit": null, "runs": 1, "attached": false,
            "collectors": [], "degraded": [], "lost": {}, "sampled_share": 0.5
        }))
        .unwrap()
    }

    #[test]
    fn this_machine_vouches_for_a_folder_and_a_program_and_for_no_other() {
        let mut own = about();
        assert!(!own.is_from_here(), "nobody vouched for it");
        own.vouch();
        assert!(own.is_from_here());
        let read: About = serde_json::from_str(&serde_json::to_string(&own).unwrap()).unwrap();
        assert!(read.is_from_here());
        let others: [fn(&mut About); 5] = [
            |about| about.directory = "/home/somebody".to_owned(),
            |about| about.command[0] = "/root/.ssh/a".to_owned(),
            |about| about.started_unix_ns += 1,
            |about| about.attached = true,
            |about| about.machine = Some("0".repeat(64)),
        ];
        for change in others {
            let mut other = own.clone();
            change(&mut other);
            assert!(!other.is_from_here(), "{other:?}");
        }
    }

    #[test]
    fn the_id_itself_is_not_told_and_nothing_that_two_recordings_share() {
        let (mut one, mut other) = (about(), about());
        other.started_unix_ns += 1;
        one.vouch();
        other.vouch();
        assert_ne!(one.machine, other.machine);
        assert!(!one.machine.unwrap().contains(&id().unwrap()));
    }
}
