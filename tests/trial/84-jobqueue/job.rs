//! A job as the controller describes it: `Key=value` pairs on one line.

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum State {
    Running,
    Pending,
    Completing,
    Suspended,
}

impl State {
    fn parse(text: &str) -> Result<State, String> {
        Ok(match text {
            "RUNNING" => State::Running,
            "PENDING" => State::Pending,
            "COMPLETING" => State::Completing,
            "SUSPENDED" => State::Suspended,
            other => return Err(format!("unknown state {other}")),
        })
    }

    pub fn short(self) -> &'static str {
        match self {
            State::Running => " R",
            State::Pending => "PD",
            State::Completing => "CG",
            State::Suspended => " S",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Job {
    pub id: u64,
    pub name: String,
    pub uid: u32,
    pub partition: String,
    pub state: State,
    pub priority: u32,
    pub nodes: u32,
    pub cpus: u32,
    pub elapsed: u64,
    pub node_list: String,
}

fn number<T: std::str::FromStr>(key: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{key} is not a number: {value}"))
}

impl Job {
    pub fn parse(line: &str) -> Result<Job, String> {
        let mut job = Job {
            id: 0,
            name: String::new(),
            uid: 0,
            partition: String::new(),
            state: State::Pending,
            priority: 0,
            nodes: 0,
            cpus: 0,
            elapsed: 0,
            node_list: String::new(),
        };
        for pair in line.split_whitespace() {
            let (key, value) = pair.split_once('=').ok_or_else(|| format!("no value: {pair}"))?;
            match key {
                "JobId" => job.id = number(key, value)?,
                "Name" => job.name = value.to_string(),
                "UserId" => job.uid = number(key, value)?,
                "Partition" => job.partition = value.to_string(),
                "State" => job.state = State::parse(value)?,
                "Priority" => job.priority = number(key, value)?,
                "Nodes" => job.nodes = number(key, value)?,
                "Cpus" => job.cpus = number(key, value)?,
                "Elapsed" => job.elapsed = number(key, value)?,
                "NodeList" => job.node_list = value.to_string(),
                _ => {}
            }
        }
        if job.id == 0 {
            return Err("a job without an id".to_string());
        }
        Ok(job)
    }

    /// What the partition lets a job take, in seconds.
    pub fn time_limit(&self) -> u64 {
        match self.partition.as_str() {
            "debug" => 1800,
            "short" => 4 * 3600,
            "gpu" => 48 * 3600,
            _ => 120 * 3600,
        }
    }
}

/// The numbers of `n[003-008]`.
pub fn expand_nodes(list: &str) -> Vec<u32> {
    let inner = list.trim_start_matches("n[").trim_end_matches(']');
    match inner.split_once('-') {
        Some((a, b)) => match (a.parse(), b.parse()) {
            (Ok(a), Ok(b)) => (a..=b).collect(),
            _ => Vec::new(),
        },
        None => Vec::new(),
    }
}
