//! `slowpath setup`: members of its group record without sudo, and only what is their own. All of it happens in a mount namespace with
//! an /etc and a /usr/local/lib of its own, so that nothing is left on the machine.

#![allow(clippy::print_stderr)] // what is skipped is said
#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use support::{SLOWPATH, built, may_count, one_at_a_time, program, said, scaled};

/// Sets slowpath up for the user nobody, then runs a script as root. `as_user GROUP COMMAND…` in it runs one as nobody.
const INSIDE: &str = r#"
set -eu
mount -t tmpfs none /usr/local/lib
cp -a /etc "$DIR/etc"
mount --bind "$DIR/etc" /etc
# setpriv executes with capabilities that only the next program has not.
as_user() { group=$1; shift; setpriv --reuid=65534 --regid=65534 --groups="$group" sh -c 'exec "$0" "$@"' "$@"; }
"$SLOWPATH" setup --user nobody
group=$(getent group slowpath | cut -d: -f3)
"#;

/// Reads a file that only root may read, and computes.
const SET_UID: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) static double work_of_root(void) { volatile double sum = 0; for (long i = 0; i < 100000000; i++) sum += i; return sum; }
int main(void) {
    char bytes[64];
    long size = read(open("/etc/shadow", O_RDONLY), bytes, sizeof bytes);
    printf("%d %d %d\n", geteuid() == 0, size > 0, work_of_root() > 0);
    return 0;
}
"#;

/// None where there are no rights to try it with.
fn inside(dir: &Path, script: &str) -> Option<Output> {
    if !may_count("setup") {
        return None;
    }
    // The user enters it, and writes there.
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o777)).unwrap();
    let rising = program("rising");
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c", &format!("{INSIDE}{script}")])
        .env("DIR", dir)
        .env("SLOWPATH", SLOWPATH)
        .env("RISING", rising)
        .env("SIZE", scaled(1.0, 2.0))
        .env("XDG_STATE_HOME", dir.join("state"))
        .output()
        .unwrap();
    if said(&output).contains("unshare: ") {
        eprintln!("SKIPPED setup: no mount namespace can be made here");
        return None;
    }
    Some(output)
}

#[test]
fn a_member_of_the_group_records_as_root_does_and_the_program_gains_nothing() {
    let _alone = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let Some(output) = inside(
        dir.path(),
        r#"
as_user "$group" "$SLOWPATH" doctor | grep BPF | head -1
LD_LIBRARY_PATH=/kept as_user "$group" "$SLOWPATH" -- sh -c 'echo "$LD_LIBRARY_PATH ${SLOWPATH_ENVIRONMENT-none}"; grep CapEff /proc/self/status; exit 7' 2>/dev/null || echo "exit $?"
as_user "$group" "$SLOWPATH" -- "$RISING" "$SIZE" 2>&1
echo without the group
as_user 65534 "$SLOWPATH" doctor | grep BPF | head -1
as_user 65534 /usr/local/lib/slowpath/slowpath doctor || echo "exit $?"
echo removed
"$SLOWPATH" setup --remove
ls /usr/local/lib
getent group slowpath || echo no group
groupadd --system slowpath
"$SLOWPATH" setup --user nobody
"$SLOWPATH" setup --remove
getent group slowpath | cut -d: -f1
"#,
    ) else {
        return;
    };
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), said(&output));
    let (member, rest) = text.split_once("without the group").unwrap_or_else(|| panic!("{text}"));
    assert!(member.contains("yes  BPF"), "{text}");
    assert!(member.contains("/kept none\nCapEff:\t0000000000000000\nexit 7\n"), "{text}");
    // Calls were counted by BPF; whether growth is found in them is for other tests to say.
    assert!(member.contains("name_list_insert") && !member.contains("limitations"), "{text}");
    assert!(rest.contains("no   BPF") && rest.contains("exit 126"), "{text}");
    assert!(
        rest.contains("removed the group slowpath\nremoved /usr/local/lib/slowpath/slowpath\nno group"),
        "{text}"
    );
    assert!(rest.contains("the group slowpath was there before, and is left\nslowpath\n"), "{text}");
}

#[test]
fn a_command_that_reads_recordings_gives_the_capabilities_up() {
    let _alone = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    // Each waits: one serves a page, the other records.
    let Some(output) = inside(
        dir.path(),
        r#"
as_user "$group" "$SLOWPATH" -- true 2>/dev/null
capabilities() {
  echo "$1"; shift
  setpriv --reuid=65534 --regid=65534 --groups="$group" sh -c 'exec "$0" "$@"' "$@" >/dev/null 2>&1 &
  sleep 2
  grep CapPrm "/proc/$!/status"
  kill $!; wait $! || true
}
capabilities view /usr/local/lib/slowpath/slowpath view --no-open
capabilities record /usr/local/lib/slowpath/slowpath -- sleep 20
"#,
    ) else {
        return;
    };
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), said(&output));
    assert!(text.contains("view\nCapPrm:\t0000000000000000\n"), "{text}");
    assert!(text.contains("record\nCapPrm:\t000000c400000000\n"), "{text}");
}

#[test]
fn what_has_other_rights_than_the_member_is_not_recorded() {
    let _alone = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let set_uid = built(dir.path(), "set-uid", SET_UID);
    let script = format!(
        r#"
install -m 4755 '{}' /usr/local/lib/set-uid
as_user "$group" "$SLOWPATH" -- sh -c '/usr/local/lib/set-uid; /usr/local/lib/set-uid; true' 2>&1
as_user "$group" "$SLOWPATH" explain --syscalls
as_user "$group" "$SLOWPATH" explain --json
sleep 30 &
as_user "$group" "$SLOWPATH" attach --duration 1 -p $! 2>&1 || echo "exit $?"
kill $!
"#,
        set_uid.display()
    );
    let Some(output) = inside(dir.path(), &script) else { return };
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), said(&output));
    // It has its rights, as without us.
    assert_eq!(text.matches("1 1 1\n").count(), 2, "{text}");
    assert!(
        text.contains("2 programs with other rights than yours (set-uid, for example) were not recorded"),
        "{text}"
    );
    assert!(!text.contains("work_of_root") && !text.contains("shadow"), "{text}");
    assert!(text.contains("cannot attach to process") && text.contains("it is another user's"), "{text}");
    assert!(text.contains("exit 125"), "{text}");
}
