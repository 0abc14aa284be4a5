//! Warms a cache before a deployment: renders the departure boards of every region from the timetable and stores them in memcached, then
//! reads some of them back to see that they are there.
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

// ---- the client of the cache ----

struct CacheClient {
    stream: TcpStream,
    input: BufReader<TcpStream>,
    stored: usize,
}

impl CacheClient {
    fn connect(address: &str) -> io::Result<CacheClient> {
        let stream = TcpStream::connect(address)?;
        let input = BufReader::new(stream.try_clone()?);
        Ok(CacheClient { stream, input, stored: 0 })
    }

    fn read_reply(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.input.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_string())
    }

    #[inline(never)]
    fn set(&mut self, key: &str, flags: u32, expires: u32, body: &[u8]) -> io::Result<()> {
        write!(self.stream, "set {key} {flags} {expires} {}\r\n", body.len())?;
        self.stream.write_all(body)?;
        self.stream.write_all(b"\r\n")?;
        self.stream.flush()?;
        match self.read_reply()?.as_str() {
            "STORED" => self.stored += 1,
            other => return Err(io::Error::new(io::ErrorKind::Other, format!("{key}: {other}"))),
        }
        Ok(())
    }

    #[inline(never)]
    fn get(&mut self, key: &str) -> io::Result<Option<Vec<u8>>> {
        self.stream.write_all(format!("get {key}\r\n").as_bytes())?;
        let head = self.read_reply()?;
        let mut words = head.split(' ');
        if words.next() != Some("VALUE") {
            return Ok(None);
        }
        let size: usize = words.nth(2).and_then(|w| w.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
        let mut body = vec![0; size];
        self.input.read_exact(&mut body)?;
        self.read_reply()?;
        self.read_reply()?;
        Ok(Some(body))
    }

    fn quit(mut self) -> io::Result<usize> {
        self.stream.write_all(b"quit\r\n")?;
        Ok(self.stored)
    }
}

// ---- the timetable ----

struct Stop {
    name: String,
    lat: f64,
    lon: f64,
    departures: Vec<(u16, u8, u8)>,
}

type Region = BTreeMap<u32, Stop>;

fn parse_stops(text: &str) -> Option<BTreeMap<u32, Region>> {
    let mut regions: BTreeMap<u32, Region> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let mut fields = line.split(',');
        let region: u32 = fields.next()?.parse().ok()?;
        let id: u32 = fields.next()?.parse().ok()?;
        let bus: u8 = fields.next()?.parse().ok()?;
        let name = fields.next()?;
        let lat: f64 = fields.next()?.parse().ok()?;
        let lon: f64 = fields.next()?.parse().ok()?;
        let minute: u16 = fields.next()?.parse().ok()?;
        let load: u8 = fields.next()?.parse().ok()?;
        let stop = regions.entry(region).or_default().entry(id).or_insert_with(|| Stop { name: name.to_string(), lat, lon, departures: Vec::new() });
        stop.departures.push((minute, bus, load));
    }
    Some(regions)
}

fn distance(a: &Stop, b: &Stop) -> f64 {
    let (la, lb) = (a.lat.to_radians(), b.lat.to_radians());
    let h = ((lb - la) / 2.0).sin().powi(2) + la.cos() * lb.cos() * ((b.lon - a.lon).to_radians() / 2.0).sin().powi(2);
    12742.0 * h.sqrt().asin()
}

fn nearest<'a>(region: &'a Region, stop: &Stop, count: usize) -> Vec<(f64, &'a str)> {
    let mut others: Vec<(f64, &str)> = region.values().map(|s| (distance(stop, s), s.name.as_str())).filter(|(d, _)| *d > 0.0).collect();
    others.sort_by(|a, b| a.partial_cmp(b).unwrap());
    others.truncate(count);
    others
}

/// Minutes between all stops of a region when one walks or waits for the next bus, for one period of the day.
fn transfer_times(region: &Region, from: u16, to: u16) -> Vec<f32> {
    let stops: Vec<&Stop> = region.values().collect();
    let n = stops.len();
    let waits: Vec<f32> = stops
        .iter()
        .map(|s| (to - from) as f32 / (1 + s.departures.iter().filter(|d| d.0 >= from && d.0 < to).count()) as f32)
        .collect();
    let mut times = vec![0f32; n * n];
    for i in 0..n {
        for j in 0..n {
            let km = distance(stops[i], stops[j]) as f32;
            times[i * n + j] = if i == j { 0.0 } else { (km * 12.0).min(waits[i] + km * 2.2 + km * km * 0.3) };
        }
    }
    for k in 0..n {
        for i in 0..n {
            let through = times[i * n + k];
            for j in 0..n {
                let way = through + times[k * n + j];
                if way < times[i * n + j] {
                    times[i * n + j] = way;
                }
            }
        }
    }
    times
}

fn reachable_summary(region: &Region) -> String {
    let mut text = String::new();
    for (from, to) in [(300, 420), (420, 540), (540, 660), (660, 780), (780, 900), (900, 1020), (1020, 1140), (1140, 1260), (1260, 1440)] {
        let times = transfer_times(region, from, to);
        let near = times.iter().filter(|t| **t <= 60.0).count();
        let longest = times.iter().cloned().fold(0f32, f32::max);
        let _ = write!(text, " {}h:{near}/{longest:.0}", from / 60);
    }
    text
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
}

fn render_stop(region: &Region, stop: &Stop, from: u16, out: &mut String) {
    out.push_str("<section><h2>");
    escape(&stop.name, out);
    out.push_str("</h2><ol>");
    let mut next: Vec<_> = stop.departures.iter().filter(|d| d.0 >= from).collect();
    next.sort();
    for (minute, bus, load) in next.iter().take(6) {
        let crowd = match load {
            0..=39 => "free",
            40..=89 => "busy",
            _ => "full",
        };
        let _ = write!(out, "<li class=\"{crowd}\"><b>{bus}</b> {:02}:{:02}</li>", minute / 60, minute % 60);
    }
    out.push_str("</ol><p>Near: ");
    for (km, name) in nearest(region, stop, 3) {
        escape(name, out);
        let _ = write!(out, " ({km:.1} km) ");
    }
    out.push_str("</p></section>\n");
}

fn render_board(number: u32, region: &Region, hour: u16) -> String {
    let mut page = String::with_capacity(32 << 10);
    let _ = write!(page, "<html><head><title>Region {number}, {hour} h</title></head><body>\n");
    let mut busiest: Vec<&Stop> = region.values().collect();
    busiest.sort_by_key(|s| std::cmp::Reverse(s.departures.len()));
    busiest.truncate(24);
    for stop in busiest {
        render_stop(region, stop, hour * 60, &mut page);
    }
    page.push_str("</body></html>\n");
    page
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf29ce484222325, |h, b| (h ^ *b as u64).wrapping_mul(0x100000001b3))
}

// ---- warming up ----

fn warm(client: &mut CacheClient, regions: &BTreeMap<u32, Region>) -> io::Result<HashMap<String, u64>> {
    let mut written = HashMap::new();
    for (number, region) in regions {
        let hour = 6 + (*number as u16) % 12;
        let page = render_board(*number, region, hour);
        let key = format!("board:{number}:{hour}");
        client.set(&key, 1, 3600, page.as_bytes())?;
        written.insert(key, fnv(page.as_bytes()));
        let loads: Vec<u32> = region.values().map(|s| s.departures.iter().map(|d| d.2 as u32).sum()).collect();
        let summary = format!("stops={} load={} reach={}", loads.len(), loads.iter().sum::<u32>(), reachable_summary(region));
        let key = format!("summary:{number}");
        client.set(&key, 0, 3600, summary.as_bytes())?;
        written.insert(key, fnv(summary.as_bytes()));
    }
    Ok(written)
}

fn verify(client: &mut CacheClient, written: &HashMap<String, u64>) -> io::Result<(usize, usize, u64)> {
    let mut keys: Vec<&String> = written.keys().collect();
    keys.sort();
    let (mut good, mut bytes, mut digest) = (0, 0, 0u64);
    for key in keys {
        if let Some(body) = client.get(key)? {
            let sum = fnv(&body);
            good += (sum == written[key]) as usize;
            bytes += body.len();
            digest = digest.rotate_left(5) ^ sum;
        }
    }
    Ok((good, bytes, digest))
}

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[2])?;
    let regions = parse_stops(&text).ok_or(io::ErrorKind::InvalidData)?;
    let stops: usize = regions.values().map(|r| r.len()).sum();
    let mut client = CacheClient::connect(&args[1])?;
    let written = warm(&mut client, &regions)?;
    let (good, bytes, digest) = verify(&mut client, &written)?;
    let stored = client.quit()?;
    println!("{} regions, {stops} stops, {stored} stored, {good} verified, {bytes} bytes, digest {digest:016x}", regions.len());
    Ok(())
}
