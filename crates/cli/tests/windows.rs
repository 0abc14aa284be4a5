//! Without rights system calls are traced in windows: little of the run, and nothing that the program does is different.

#![allow(clippy::unwrap_used)] // a test that cannot go on says so by panicking

mod support;

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{REFUSER, SLOWPATH, built, one_at_a_time, program, refused, said};

/// Looks up a path that does not exist, as often as its argument says.
const LOOKUPS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
__attribute__((noinline)) static int look_up(const char *path) { struct stat about; return stat(path, &about); }
int main(int argc, char **argv) {
    long missed = 0;
    for (long i = argc > 1 ? atol(argv[1]) : 200000; i > 0; i--) missed += look_up("/nonexistent/path") != 0;
    printf("%ld\n", missed);
    return 0;
}
"#;

/// The report and `about.json` of a program that was recorded without rights.
fn recorded(dir: &Path, command: &[&str]) -> (Value, Value) {
    let file = dir.join("findings.json");
    let _ = std::fs::remove_dir_all(dir.join("recordings"));
    let output = refused(dir, None, &["--json", "--output", file.to_str().unwrap()], command);
    assert!(output.status.success(), "{}", said(&output));
    let read = |path: &Path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let about = std::fs::read_dir(dir.join("recordings")).unwrap().find_map(|entry| {
        let about = entry.unwrap().path().join("about.json");
        about.exists().then_some(about)
    });
    (read(&file), read(&about.unwrap()))
}

#[test]
fn a_program_of_many_calls_is_traced_for_a_small_part_of_its_time_and_they_are_estimated() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let program = built(dir.path(), "lookups", LOOKUPS);
    for calls in ["200000", "2000000"] {
        let (report, about) = recorded(dir.path(), &[program.to_str().unwrap(), calls]);
        let ns = |field: &str| about[field].as_u64().unwrap();
        // The allowance at the beginning, the budget, and one stop that took long on a busy machine.
        let most = 30_000_000 + ns("wall_ns") / 10 + 50_000_000;
        assert!(ns("tracing_wall_ns") < most, "{about:#}");
        let share = about["traced_share"].as_f64().unwrap();
        assert!(share > 0.0 && share < 0.5, "{about:#}");
        assert!(about["degraded"].to_string().contains("in windows"), "{about:#}");
        let finding = &report["findings"][0];
        assert_eq!(
            (finding["cause"].as_str(), &finding["function"]),
            (Some("failed-lookups"), &"look_up".into())
        );
        assert!(finding["explanation"].to_string().contains("so are counts"), "{finding:#}");
        let facts = finding["facts"].as_array().unwrap();
        let misses = facts.iter().find(|fact| fact["name"] == "misses").unwrap();
        assert_ne!(misses["sure"], "exact", "{misses:#}");
        // What a stop takes is known to a few percent, and is fifty times what such a call takes.
        let ratio = misses["value"].as_f64().unwrap() / calls.parse::<f64>().unwrap();
        assert!((0.1..10.0).contains(&ratio), "{ratio}: {misses:#}");
        // Never more than there was.
        assert!(finding["cost_ns"].as_u64().unwrap_or(0) <= ns("user_ns") + ns("sys_ns"), "{finding:#}");
    }
}

/// Starts ten children one after the other, which sleep for 20 ms, and looks every 60 ms whether the last one has ended.
const LATE: &str = r#"
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) static void look_now_and_then(pid_t child) {
    do nanosleep(&(struct timespec){0, 60000000}, 0); while (waitpid(child, 0, WNOHANG) == 0);
}
int main(void) {
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (!child) { nanosleep(&(struct timespec){0, 20000000}, 0); _exit(0); }
        look_now_and_then(child);
    }
    return 0;
}
"#;

#[test]
fn a_sleep_in_which_a_child_ends_is_one_sleep() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let program = built(dir.path(), "late", LATE);
    // The kernel wakes a traced parent for SIGCHLD, which it ignores.
    let (report, _) = recorded(dir.path(), &[program.to_str().unwrap()]);
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(
        (&findings[0]["cause"], &findings[0]["function"]),
        (&"waiting".into(), &"look_now_and_then".into())
    );
    // 40 of 60 ms.
    let whole = report["recording"]["undisturbed_wall_ns"].as_f64().unwrap();
    let share = findings[0]["gain_ns"].as_f64().unwrap() / whole;
    assert!((0.5..0.8).contains(&share), "{share}");
}

#[test]
fn a_signal_that_asks_a_program_to_end_is_heard_of_whatever_is_traced() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let program = program("stops_late");
    let (report, _) = recorded(dir.path(), &[program.to_str().unwrap(), "1"]);
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!((&findings[0]["cause"], &findings[0]["function"]), (&"waiting".into(), &"serve".into()));
}

#[test]
fn a_short_program_is_traced_whole_and_its_counts_are_exact() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let program = built(dir.path(), "lookups", LOOKUPS);
    let (_, about) = recorded(dir.path(), &[program.to_str().unwrap(), "100"]);
    assert_eq!(about["traced_share"], 1.0, "{about:#}");
    assert!(!about["degraded"].to_string().contains("in windows"), "{about:#}");
}

/// Begins with some thousand lookups, and then asks for the working directory; with some reckoning in between. Prints the kernel's time of the
/// second part, ms.
const TWO_PARTS: &str = r#"
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
__attribute__((noinline)) static int look_up(const char *path) { struct stat about; return stat(path, &about); }
__attribute__((noinline)) static char *ask(char *into, size_t size) { return getcwd(into, size); }
static long sys_ms(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_stime.tv_sec * 1000 + used.ru_stime.tv_usec / 1000;
}
int main(void) {
    char path[4096];
    long missed = 0;
    volatile double x = 1;
    for (int i = 0; i < 3000; i++) missed += look_up("/nonexistent/path") != 0;
    long before = sys_ms(), after;
    do {
        for (int i = 0; i < 1000; i++) {
            missed += ask(path, sizeof path) == NULL;
            for (int j = 0; j < 100; j++) x *= 1.0000001;
        }
        after = sys_ms();
    } while (after - before < 400);
    printf("%ld\n", after - before);
    return missed == 3000 ? 0 : 1;
}
"#;

#[test]
fn the_start_of_a_program_does_not_stand_for_the_rest() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let program = built(dir.path(), "two_parts", TWO_PARTS);
    let (report, about) = recorded(dir.path(), &[program.to_str().unwrap()]);
    assert!(about["traced_share"].as_f64().unwrap() < 0.5, "{about:#}");
    let findings = report["findings"].as_array().unwrap();
    let of = |function: &str| findings.iter().find(|finding| finding["function"] == function);
    assert!(of("look_up").is_none(), "{findings:#?}");
    let asked = of("ask").expect("it asks for what does not change");
    let cost_ns = asked["cost_ns"].as_f64().unwrap();
    assert!((200e6..600e6).contains(&cost_ns), "of 400 ms: {asked:#}");
}

/// Reads a file a byte at a time.
const READS: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) static long count_lines(int file) {
    long lines = 0;
    for (char byte; read(file, &byte, 1) == 1;) lines += byte == '\n';
    return lines;
}
int main(int argc, char **argv) {
    printf("%ld\n", count_lines(open(argv[argc - 1], O_RDONLY)));
    return 0;
}
"#;

#[test]
fn reads_are_counted_by_the_kernel_where_they_are_traced_in_windows() {
    const BYTES: u64 = 600_000;
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let (program, file) = (built(dir.path(), "reads", READS), dir.path().join("text"));
    std::fs::write(&file, vec![b'\n'; BYTES as usize]).unwrap();
    let (report, about) = recorded(dir.path(), &[program.to_str().unwrap(), file.to_str().unwrap()]);
    assert!(about["traced_share"].as_f64().unwrap() < 0.5, "{about:#}");
    let finding = &report["findings"][0];
    assert_eq!(
        (finding["cause"].as_str(), &finding["function"], finding["confidence"].as_str()),
        (Some("small-io"), &"count_lines".into(), Some("likely"))
    );
    let facts = finding["facts"].as_array().unwrap();
    let calls = facts.iter().find(|fact| fact["name"] == "calls").unwrap()["value"].as_f64().unwrap();
    // Of a window that the end of the program cuts off nothing may be known.
    assert!((calls / BYTES as f64 - 1.0).abs() < 0.05, "{calls}");
}

/// Threads wait in calls that a stop makes fail, as often and long as is their business, and say so if one does; meanwhile others
/// make many calls.
const WAITERS: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
enum { MS = 5, ROUNDS = 150, KINDS = 4 };
static atomic_int waiting = KINDS, wrong;
static int epoll, semaphores, pair[2];
static long wait_ms(long kind) {
    const struct timespec time = { .tv_nsec = MS * 1000000 };
    struct epoll_event event;
    struct sembuf take = { 0, -1, 0 };
    sigset_t set;
    char byte;
    switch (kind) {
    case 0: return epoll_wait(epoll, &event, 1, MS) == 0 ? EAGAIN : errno;
    case 1: sigemptyset(&set); sigaddset(&set, SIGUSR1); return sigtimedwait(&set, NULL, &time) < 0 ? errno : 0;
    case 2: return recv(pair[0], &byte, 1, 0) < 0 ? errno : 0;
    default: return semtimedop(semaphores, &take, 1, &time) < 0 ? errno : 0;
    }
}
static long ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
static void *waiter(void *kind) {
    struct stat about;
    for (int round = 0; round < ROUNDS; round++) {
        for (int call = 0; call < 400; call++) stat("/nonexistent/path", &about); // so that it is found running, too
        long before = ns(), result = wait_ms((long) kind), took = ns() - before;
        if (result != EAGAIN || took < (MS - 1) * 1000000L) {
            printf("kind %ld: error %ld after %ld ns\n", (long) kind, result, took);
            wrong++;
        }
    }
    waiting--;
    return NULL;
}
int main(void) {
    struct stat about;
    struct timeval timeout = { .tv_usec = MS * 1000 };
    pthread_t threads[KINDS];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    epoll = epoll_create1(0);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    for (long kind = 0; kind < KINDS; kind++) pthread_create(&threads[kind], NULL, waiter, (void *) kind);
    while (waiting) stat("/nonexistent/path", &about);
    for (long kind = 0; kind < KINDS; kind++) pthread_join(threads[kind], NULL);
    semctl(semaphores, 0, IPC_RMID);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
"#;

#[test]
fn no_call_fails_because_a_window_opens() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let program = built(dir.path(), "waiters", WAITERS);
    let output = refused(dir.path(), None, &[], &[program.to_str().unwrap()]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0 wrong\n", "{}", said(&output));
    assert!(said(&output).contains("in windows"), "{}", said(&output));
}

/// Writes blocks that are larger than a pipe, and says how many were written in part.
const WRITER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
enum { SIZE = 1 << 20, BLOCKS = 600 };
static char block[SIZE];
int main(void) {
    int ends[2], status;
    long total = 0, part = 0;
    struct stat about;
    if (pipe(ends)) return 99;
    if (fork() == 0) {
        long got, sum = 0;
        close(ends[1]);
        while ((got = read(ends[0], block, sizeof block)) > 0) {
            for (long at = 0; at < got; at++) sum += block[at] == (char) (total + at);
            total += got;
        }
        _exit(sum == total && total == (long) SIZE * BLOCKS ? 0 : 1);
    }
    close(ends[0]);
    for (long at = 0; at < SIZE; at++) block[at] = (char) at;
    for (int round = 0; round < BLOCKS; round++) {
        for (int call = 0; call < 100; call++) stat("/nonexistent/path", &about);
        part += write(ends[1], block, SIZE) != SIZE;
    }
    close(ends[1]);
    wait(&status);
    printf("%ld in part, %s\n", part, status ? "other bytes" : "all bytes");
    return 0;
}
"#;

#[test]
fn no_write_is_cut_short_because_a_window_opens() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let program = built(dir.path(), "writer", WRITER);
    let output = refused(dir.path(), None, &[], &[program.to_str().unwrap()]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0 in part, all bytes\n", "{}", said(&output));
    assert!(said(&output).contains("in windows"), "{}", said(&output));
}

/// Makes calls, threads and children for a while, and writes at its end what became of them.
const BUSY: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static void *calls(void *rounds) {
    struct stat about;
    for (long i = (long) rounds; i > 0; i--) stat("/nonexistent/path", &about);
    return NULL;
}
int main(int argc, char **argv) {
    int failed = 0;
    for (int round = 0; round < 40; round++) {
        pthread_t thread;
        int status = 0;
        pid_t child = fork();
        if (child == 0) { calls((void *) 3000); _exit(7); }
        pthread_create(&thread, NULL, calls, (void *) 20000);
        usleep(5000);
        pthread_join(thread, NULL);
        failed += waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7;
    }
    FILE *end = fopen(argv[argc - 1], "w");
    fprintf(end, "%d failed\n", failed);
    fclose(end);
    return 0;
}
"#;

#[test]
fn what_slowpath_traced_when_it_was_killed_goes_on() {
    let _one = one_at_a_time();
    let dir = tempfile::tempdir().unwrap();
    let (program, refuser) = (built(dir.path(), "busy", BUSY), built(dir.path(), "refuser", REFUSER));
    for moment in 0..12 {
        let end = dir.path().join(format!("end-{moment}"));
        let mut run = Command::new(&refuser);
        run.arg(SLOWPATH)
            .arg("record")
            .arg("--dir")
            .arg(dir.path().join("recordings"))
            .env_remove("LD_LIBRARY_PATH");
        run.arg("--").args([&program, &end]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut slowpath = run.spawn().unwrap();
        let child = loop {
            if let Some(child) = child_of(slowpath.id(), "busy") {
                break Some(child);
            }
            if slowpath.try_wait().unwrap().is_some() {
                break None; // it has ended before it was seen
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        std::thread::sleep(Duration::from_millis(moment * 17));
        slowpath.kill().unwrap();
        slowpath.wait().unwrap();
        let child = child.expect("the program was seen");
        let begun = Instant::now();
        while Path::new(&format!("/proc/{child}/exe")).exists() && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let end = std::fs::read_to_string(&end).unwrap_or_default();
        assert_eq!(end, "0 failed\n", "killed after {} ms", moment * 17);
    }
}

/// The child of a process that executes a program of this name.
fn child_of(pid: u32, name: &str) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    let named = |child: &&str| {
        std::fs::read_link(format!("/proc/{child}/exe")).is_ok_and(|path| path.ends_with(name))
    };
    children.split_whitespace().find(named)?.parse().ok()
}
