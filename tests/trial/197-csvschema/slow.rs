//! Reads a CSV file without a schema: the type of each column is inferred from
//! its cells, then the columns are loaded into typed arrays and described.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::collections::HashMap;
use std::fmt;
use std::fs;

/// How many rows are looked at to find the types.
const MAX_INFER_ROWS: usize = 12_000;

type Result<T> = std::result::Result<T, CastError>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum DataType {
    Int64,
    Float64,
    Boolean,
    Date32,
    Timestamp,
    Utf8,
}

#[derive(Debug)]
enum ErrorKind {
    Parse { value: String, to: DataType },
    Range { value: String, what: &'static str },
    Csv(String),
}

/// An error with the place where it came up.
#[derive(Debug)]
struct CastError {
    kind: ErrorKind,
    backtrace: Backtrace,
}

impl CastError {
    fn new(kind: ErrorKind) -> CastError {
        CastError { kind, backtrace: Backtrace::force_capture() }
    }

    fn parse(value: &str, to: DataType) -> CastError {
        CastError::new(ErrorKind::Parse { value: value.to_string(), to })
    }

    fn range(value: &str, what: &'static str) -> CastError {
        CastError::new(ErrorKind::Range { value: value.to_string(), what })
    }
}

impl fmt::Display for CastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::Parse { value, to } => write!(f, "cannot cast {value:?} to {to:?}")?,
            ErrorKind::Range { value, what } => write!(f, "{what} out of range in {value:?}")?,
            ErrorKind::Csv(msg) => write!(f, "csv: {msg}")?,
        }
        if self.backtrace.status() == BacktraceStatus::Captured {
            write!(f, "\n\nbacktrace:\n{}", self.backtrace)?;
        }
        Ok(())
    }
}

// ---- csv ----

struct CsvReader<'a> {
    rest: &'a str,
    line: usize,
}

impl CsvReader<'_> {
    fn read_record(&mut self, out: &mut Vec<String>) -> Result<bool> {
        out.clear();
        if self.rest.is_empty() {
            return Ok(false);
        }
        self.line += 1;
        let bytes = self.rest.as_bytes();
        let mut pos = 0;
        loop {
            let mut cell = String::new();
            if bytes.get(pos) == Some(&b'"') {
                pos += 1;
                loop {
                    let Some(end) = self.rest[pos..].find('"') else {
                        return Err(CastError::new(ErrorKind::Csv(format!("open quote in line {}", self.line))));
                    };
                    cell.push_str(&self.rest[pos..pos + end]);
                    pos += end + 1;
                    if bytes.get(pos) != Some(&b'"') {
                        break;
                    }
                    cell.push('"');
                    pos += 1;
                }
            } else {
                let end = bytes[pos..].iter().position(|b| matches!(b, b',' | b'\n')).unwrap_or(bytes.len() - pos);
                cell.push_str(&self.rest[pos..pos + end]);
                pos += end;
            }
            out.push(cell);
            match bytes.get(pos) {
                Some(b',') => pos += 1,
                _ => {
                    self.rest = &self.rest[(pos + 1).min(bytes.len())..];
                    return Ok(true);
                }
            }
        }
    }
}

// ---- casts ----

fn parse_int(s: &str) -> Result<i64> {
    s.parse().map_err(|_| CastError::parse(s, DataType::Int64))
}

fn parse_float(s: &str) -> Result<f64> {
    s.parse().map_err(|_| CastError::parse(s, DataType::Float64))
}

fn parse_bool(s: &str) -> Result<bool> {
    match s {
        "true" | "TRUE" | "t" => Ok(true),
        "false" | "FALSE" | "f" => Ok(false),
        _ => Err(CastError::parse(s, DataType::Boolean)),
    }
}

fn days_from_civil(y: i64, m: i64, d: i64) -> i64 {
    let y = if m <= 2 { y - 1 } else { y };
    let era = y.div_euclid(400);
    let yoe = y - era * 400;
    let doy = (153 * (if m > 2 { m - 3 } else { m + 9 }) + 2) / 5 + d - 1;
    era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468
}

fn parse_date(s: &str) -> Result<i64> {
    let mut it = s.splitn(3, '-').map(|p| p.parse::<i64>().ok());
    match (it.next().flatten(), it.next().flatten(), it.next().flatten()) {
        (Some(y), Some(m), Some(d)) => {
            if !(1..=12).contains(&m) || !(1..=31).contains(&d) {
                return Err(CastError::range(s, "day"));
            }
            Ok(days_from_civil(y, m, d))
        }
        _ => Err(CastError::parse(s, DataType::Date32)),
    }
}

fn parse_timestamp(s: &str) -> Result<i64> {
    let Some((date, time)) = s.split_once('T') else {
        return Err(CastError::parse(s, DataType::Timestamp));
    };
    let days = parse_date(date)?;
    let mut secs = 0;
    for part in time.split(':') {
        secs = secs * 60 + parse_int(part)?;
    }
    if !(0..86400).contains(&secs) {
        return Err(CastError::range(s, "time"));
    }
    Ok(days * 86400 + secs)
}

// ---- inference ----

fn infer_cell(s: &str) -> DataType {
    if parse_int(s).is_ok() {
        DataType::Int64
    } else if parse_float(s).is_ok() {
        DataType::Float64
    } else if parse_bool(s).is_ok() {
        DataType::Boolean
    } else if parse_date(s).is_ok() {
        DataType::Date32
    } else if parse_timestamp(s).is_ok() {
        DataType::Timestamp
    } else {
        DataType::Utf8
    }
}

fn common_type(a: DataType, b: DataType) -> DataType {
    use DataType::*;
    match (a, b) {
        (a, b) if a == b => a,
        (Int64, Float64) | (Float64, Int64) => Float64,
        (Date32, Timestamp) | (Timestamp, Date32) => Timestamp,
        _ => Utf8,
    }
}

struct Field {
    name: String,
    data_type: Option<DataType>,
    nulls: usize,
}

fn infer_schema(header: &[String], rows: &[Vec<String>]) -> Vec<Field> {
    let mut fields: Vec<Field> =
        header.iter().map(|n| Field { name: n.clone(), data_type: None, nulls: 0 }).collect();
    for row in rows {
        for (f, cell) in fields.iter_mut().zip(row) {
            if cell.is_empty() {
                f.nulls += 1;
                continue;
            }
            let t = infer_cell(cell);
            f.data_type = Some(f.data_type.map_or(t, |old| common_type(old, t)));
        }
    }
    fields
}

// ---- loading ----

enum Column {
    Int(Vec<Option<i64>>),
    Float(Vec<Option<f64>>),
    Bool(Vec<Option<bool>>),
    Text(Vec<Option<String>>),
}

fn load<T>(rows: &[Vec<String>], i: usize, f: impl Fn(&str) -> Result<T>) -> Result<Vec<Option<T>>> {
    rows.iter().map(|r| if r[i].is_empty() { Ok(None) } else { f(&r[i]).map(Some) }).collect()
}

fn load_column(field: &Field, rows: &[Vec<String>], i: usize) -> Result<Column> {
    Ok(match field.data_type.unwrap_or(DataType::Utf8) {
        DataType::Int64 => Column::Int(load(rows, i, parse_int)?),
        DataType::Float64 => Column::Float(load(rows, i, parse_float)?),
        DataType::Boolean => Column::Bool(load(rows, i, parse_bool)?),
        DataType::Date32 => Column::Int(load(rows, i, parse_date)?),
        DataType::Timestamp => Column::Int(load(rows, i, parse_timestamp)?),
        DataType::Utf8 => Column::Text(load(rows, i, |s| Ok(s.to_string()))?),
    })
}

fn quantiles(mut v: Vec<f64>) -> String {
    v.sort_by(f64::total_cmp);
    let at = |q: f64| v[((v.len() - 1) as f64 * q) as usize];
    format!("min {} p10 {} median {} p90 {} max {}", at(0.0), at(0.1), at(0.5), at(0.9), at(1.0))
}

fn describe(col: &Column) -> String {
    match col {
        Column::Int(v) => quantiles(v.iter().flatten().map(|x| *x as f64).collect()),
        Column::Float(v) => quantiles(v.iter().flatten().copied().collect()),
        Column::Bool(v) => format!("true {} of {}", v.iter().flatten().filter(|b| **b).count(), v.len()),
        Column::Text(v) => {
            let mut counts: HashMap<&str, usize> = HashMap::new();
            for s in v.iter().flatten() {
                *counts.entry(s).or_default() += 1;
            }
            let mut top: Vec<_> = counts.into_iter().collect();
            let distinct = top.len();
            top.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
            format!("{distinct} distinct, most often {:?}", &top[..top.len().min(3)])
        }
    }
}

fn run() -> Result<()> {
    let path = std::env::current_exe().unwrap().parent().unwrap().join("data/orders.csv");
    let text = fs::read_to_string(path).map_err(|e| CastError::new(ErrorKind::Csv(e.to_string())))?;
    let mut reader = CsvReader { rest: &text, line: 0 };
    let (mut header, mut record, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    reader.read_record(&mut header)?;
    while reader.read_record(&mut record)? {
        if record.len() != header.len() {
            return Err(CastError::new(ErrorKind::Csv(format!("line {}: {} cells", reader.line, record.len()))));
        }
        rows.push(std::mem::take(&mut record));
    }
    let fields = infer_schema(&header, &rows[..rows.len().min(MAX_INFER_ROWS)]);
    for (i, f) in fields.iter().enumerate() {
        let col = load_column(f, &rows, i)?;
        println!("{:<10} {:?} nulls {} {}", f.name, f.data_type, f.nulls, describe(&col));
    }
    println!("{} rows", rows.len());
    Ok(())
}

fn main() {
    if let Err(e) = run() {
        eprintln!("error: {e}");
        std::process::exit(1);
    }
}
