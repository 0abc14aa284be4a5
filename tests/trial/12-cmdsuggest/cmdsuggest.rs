// cmdsuggest - for each mistyped word of a history file find the closest known commands.
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::process;

struct Suggestion<'a> {
    command: &'a str,
    distance: usize,
}

struct Index {
    commands: Vec<String>,
}

fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut d: Vec<Vec<usize>> = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in d.iter_mut().enumerate() {
        row[0] = i;
    }
    for j in 0..=b.len() {
        d[0][j] = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            d[i][j] = (d[i - 1][j] + 1).min(d[i][j - 1] + 1).min(d[i - 1][j - 1] + cost);
        }
    }
    d[a.len()][b.len()]
}

impl Index {
    fn load(path: &str) -> Result<Index, String> {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {}", path, e))?;
        let mut commands: Vec<String> = text.lines().map(|l| l.trim().to_string()).collect();
        commands.sort();
        commands.dedup();
        Ok(Index { commands })
    }

    fn suggest(&self, word: &str, limit: usize) -> Vec<Suggestion<'_>> {
        let mut found: Vec<Suggestion> = Vec::new();
        let max = 1 + word.len() / 4;
        for command in &self.commands {
            let distance = edit_distance(word, command);
            if distance <= max {
                found.push(Suggestion { command, distance });
            }
        }
        found.sort_by(|x, y| x.distance.cmp(&y.distance).then(x.command.cmp(y.command)));
        found.truncate(limit);
        found
    }

    fn contains(&self, word: &str) -> bool {
        self.commands.binary_search_by(|c| c.as_str().cmp(word)).is_ok()
    }
}

#[derive(Default)]
struct Report {
    known: usize,
    unknown: usize,
    corrected: usize,
    by_command: BTreeMap<String, usize>,
}

fn first_word(line: &str) -> Option<&str> {
    let line = line.trim_start().trim_start_matches("sudo ");
    line.split(|c: char| c.is_whitespace() || c == ';' || c == '|').find(|w| !w.is_empty())
}

fn scan_history(index: &Index, history: &str) -> Report {
    let mut report = Report::default();
    for line in history.lines() {
        let word = match first_word(line) {
            Some(w) => w,
            None => continue,
        };
        if index.contains(word) {
            report.known += 1;
            continue;
        }
        report.unknown += 1;
        if let Some(best) = index.suggest(word, 3).first() {
            report.corrected += 1;
            *report.by_command.entry(best.command.to_string()).or_default() += 1;
        }
    }
    report
}

fn print_report(r: &Report) {
    let mut top: Vec<(&String, &usize)> = r.by_command.iter().collect();
    top.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    for (name, n) in top.into_iter().take(15) {
        println!("{:<20} {}", name, n);
    }
    println!("{} known, {} unknown, {} corrected", r.known, r.unknown, r.corrected);
}

fn main() {
    let dir = env::args().nth(1).unwrap_or_else(|| "data".into());
    let index = Index::load(&format!("{}/commands.txt", dir)).unwrap_or_else(|e| {
        eprintln!("cmdsuggest: {}", e);
        process::exit(1);
    });
    let history = fs::read_to_string(format!("{}/history.txt", dir)).unwrap_or_default();
    let report = scan_history(&index, &history);
    print_report(&report);
}
