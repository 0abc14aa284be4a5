// Statistics of recorded tracks: reads the exported JSON files, works out distance, climb, pace and heart rate of
// each track, and prints the totals by name and the longest tracks.
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};

#[derive(Debug, Clone, PartialEq)]
enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn get(&self, key: &str) -> &Json {
        if let Json::Object(fields) = self {
            for (k, v) in fields {
                if k == key {
                    return v;
                }
            }
        }
        &Json::Null
    }
    fn number(&self) -> Option<f64> {
        if let Json::Number(n) = self { Some(*n) } else { None }
    }
    fn text(&self) -> &str {
        if let Json::Text(s) = self { s } else { "" }
    }
    fn list(&self) -> &[Json] {
        if let Json::List(v) = self { v } else { &[] }
    }
}

enum ParseError {
    Io(io::Error),
    Syntax(usize, &'static str),
}

impl From<io::Error> for ParseError {
    fn from(e: io::Error) -> Self {
        ParseError::Io(e)
    }
}

type Res<T> = Result<T, ParseError>;

struct Source<R: Read> {
    bytes: io::Bytes<R>,
    ahead: Option<u8>,
    at: usize,
}

impl<R: Read> Source<R> {
    fn new(r: R) -> Self {
        Source { bytes: r.bytes(), ahead: None, at: 0 }
    }

    #[inline(never)]
    fn next(&mut self) -> Res<Option<u8>> {
        if let Some(b) = self.ahead.take() {
            return Ok(Some(b));
        }
        match self.bytes.next() {
            Some(Ok(b)) => {
                self.at += 1;
                Ok(Some(b))
            }
            Some(Err(e)) => Err(e.into()),
            None => Ok(None),
        }
    }

    fn peek(&mut self) -> Res<Option<u8>> {
        if self.ahead.is_none() {
            self.ahead = self.next()?;
        }
        Ok(self.ahead)
    }

    fn peek_token(&mut self) -> Res<Option<u8>> {
        while let Some(b) = self.peek()? {
            if !b.is_ascii_whitespace() {
                return Ok(Some(b));
            }
            self.ahead = None;
        }
        Ok(None)
    }

    fn expect(&mut self, want: u8, what: &'static str) -> Res<()> {
        match self.next()? {
            Some(b) if b == want => Ok(()),
            _ => Err(ParseError::Syntax(self.at, what)),
        }
    }
}

struct Parser<R: Read> {
    src: Source<R>,
    scratch: Vec<u8>,
}

impl<R: Read> Parser<R> {
    fn value(&mut self) -> Res<Json> {
        match self.src.peek_token()? {
            Some(b'{') => self.object(),
            Some(b'[') => self.list(),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(ParseError::Syntax(self.src.at, "value expected")),
        }
    }

    fn word(&mut self, word: &'static str, value: Json) -> Res<Json> {
        for b in word.bytes() {
            self.src.expect(b, "unknown word")?;
        }
        Ok(value)
    }

    fn number(&mut self) -> Res<Json> {
        self.scratch.clear();
        while let Some(b) = self.src.peek()? {
            if !matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E') {
                break;
            }
            self.scratch.push(b);
            self.src.ahead = None;
        }
        std::str::from_utf8(&self.scratch)
            .ok()
            .and_then(|s| s.parse().ok())
            .map(Json::Number)
            .ok_or(ParseError::Syntax(self.src.at, "bad number"))
    }

    fn string(&mut self) -> Res<String> {
        self.src.expect(b'"', "string expected")?;
        self.scratch.clear();
        loop {
            match self.src.next()? {
                Some(b'"') => break,
                Some(b'\\') => match self.src.next()? {
                    Some(b'n') => self.scratch.push(b'\n'),
                    Some(b't') => self.scratch.push(b'\t'),
                    Some(b) => self.scratch.push(b),
                    None => return Err(ParseError::Syntax(self.src.at, "end in a string")),
                },
                Some(b) => self.scratch.push(b),
                None => return Err(ParseError::Syntax(self.src.at, "end in a string")),
            }
        }
        Ok(String::from_utf8_lossy(&self.scratch).into_owned())
    }

    fn list(&mut self) -> Res<Json> {
        self.src.expect(b'[', "list expected")?;
        let mut items = Vec::new();
        if self.src.peek_token()? == Some(b']') {
            self.src.next()?;
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value()?);
            self.src.peek_token()?;
            match self.src.next()? {
                Some(b',') => continue,
                Some(b']') => return Ok(Json::List(items)),
                _ => return Err(ParseError::Syntax(self.src.at, "comma expected")),
            }
        }
    }

    fn object(&mut self) -> Res<Json> {
        self.src.expect(b'{', "object expected")?;
        let mut fields = Vec::new();
        if self.src.peek_token()? == Some(b'}') {
            self.src.next()?;
            return Ok(Json::Object(fields));
        }
        loop {
            self.src.peek_token()?;
            let key = self.string()?;
            self.src.peek_token()?;
            self.src.expect(b':', "colon expected")?;
            let v = self.value()?;
            fields.push((key, v));
            self.src.peek_token()?;
            match self.src.next()? {
                Some(b',') => continue,
                Some(b'}') => return Ok(Json::Object(fields)),
                _ => return Err(ParseError::Syntax(self.src.at, "comma expected")),
            }
        }
    }
}

#[derive(Default, Clone)]
struct Track {
    id: u32,
    name: String,
    private: bool,
    metres: f64,
    climb: f64,
    seconds: f64,
    heart: Vec<f64>,
}

fn distance(a: (f64, f64), b: (f64, f64)) -> f64 {
    let (la, lb) = (a.0.to_radians(), b.0.to_radians());
    let (dp, dl) = (lb - la, (b.1 - a.1).to_radians());
    let h = (dp / 2.0).sin().powi(2) + la.cos() * lb.cos() * (dl / 2.0).sin().powi(2);
    2.0 * 6371000.0 * h.sqrt().asin()
}

fn to_track(j: &Json) -> Track {
    let mut t = Track {
        id: j.get("id").number().unwrap_or(0.0) as u32,
        name: j.get("name").text().to_string(),
        private: *j.get("private") == Json::Bool(true),
        ..Track::default()
    };
    let mut last: Option<(f64, f64, f64, f64)> = None;
    for p in j.get("points").list() {
        let (Some(lat), Some(lon), Some(at)) = (p.get("lat").number(), p.get("lon").number(), p.get("t").number()) else {
            continue;
        };
        let ele = p.get("ele").number().unwrap_or(0.0);
        if let Some((la, lo, e, ti)) = last {
            t.metres += distance((la, lo), (lat, lon));
            t.climb += (ele - e).max(0.0);
            t.seconds += at - ti;
        }
        if let Some(h) = p.get("hr").number() {
            t.heart.push(h);
        }
        last = Some((lat, lon, ele, at));
    }
    t
}

fn open_source(path: &str) -> Res<Source<BufReader<File>>> {
    Ok(Source::new(BufReader::new(File::open(path)?)))
}

fn load_tracks(path: &str) -> Res<Vec<Track>> {
    let mut parser = Parser { src: open_source(path)?, scratch: Vec::new() };
    let all = parser.value()?;
    if parser.src.peek_token()?.is_some() {
        return Err(ParseError::Syntax(parser.src.at, "text after the end"));
    }
    Ok(all.list().iter().map(to_track).collect())
}

fn median(v: &mut Vec<f64>) -> f64 {
    if v.is_empty() {
        return 0.0;
    }
    v.sort_by(|a, b| a.partial_cmp(b).unwrap());
    v[v.len() / 2]
}

fn report(tracks: &[Track]) {
    let mut by_name: BTreeMap<&str, (u32, f64, f64, f64, Vec<f64>)> = BTreeMap::new();
    for t in tracks.iter().filter(|t| !t.private) {
        let e = by_name.entry(&t.name).or_default();
        e.0 += 1;
        e.1 += t.metres;
        e.2 += t.climb;
        e.3 += t.seconds;
        e.4.extend(&t.heart);
    }
    for (name, e) in by_name.iter_mut() {
        println!("{:<16} {:>4} {:>9.2} km {:>8.0} m up {:>6.2} min/km, pulse {}", name, e.0, e.1 / 1000.0, e.2, e.3 / 60.0 / (e.1 / 1000.0), median(&mut e.4));
    }
    let mut order: Vec<&Track> = tracks.iter().collect();
    order.sort_by(|a, b| b.metres.partial_cmp(&a.metres).unwrap().then(a.id.cmp(&b.id)));
    for t in order.iter().take(5) {
        println!("  #{} {} {:.1} m", t.id, t.name, t.metres);
    }
}

fn main() {
    let mut tracks = Vec::new();
    for part in 0..8 {
        match load_tracks(&format!("data/tracks{part}.json")) {
            Ok(mut t) => tracks.append(&mut t),
            Err(e) => {
                match e {
                    ParseError::Io(e) => eprintln!("trackstat: {e}"),
                    ParseError::Syntax(at, what) => eprintln!("trackstat: byte {at}: {what}"),
                }
                std::process::exit(1);
            }
        }
    }
    println!("{} tracks", tracks.len());
    report(&tracks);
}
