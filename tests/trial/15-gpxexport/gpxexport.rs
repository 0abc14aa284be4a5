// gpxexport - convert a CSV track log into GPX and print a summary of the trip.
use std::env;
use std::f64::consts::PI;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process;

#[derive(Clone, Copy)]
struct Point {
    time: i64,
    lat: f64,
    lon: f64,
    ele: f64,
}

#[derive(Default)]
struct Summary {
    points: usize,
    distance: f64,
    climb: f64,
    max_speed: f64,
}

fn parse_point(line: &str) -> Option<Point> {
    let mut f = line.split(',');
    Some(Point {
        time: f.next()?.parse().ok()?,
        lat: f.next()?.parse().ok()?,
        lon: f.next()?.parse().ok()?,
        ele: f.next()?.parse().ok()?,
    })
}

fn read_track(path: &str) -> io::Result<Vec<Point>> {
    let reader = BufReader::new(File::open(path)?);
    let mut out = Vec::new();
    for line in reader.lines() {
        if let Some(p) = parse_point(&line?) {
            out.push(p);
        }
    }
    Ok(out)
}

fn haversine(a: &Point, b: &Point) -> f64 {
    let rad = PI / 180.0;
    let (la, lb) = (a.lat * rad, b.lat * rad);
    let dlat = lb - la;
    let dlon = (b.lon - a.lon) * rad;
    let h = (dlat / 2.0).sin().powi(2) + la.cos() * lb.cos() * (dlon / 2.0).sin().powi(2);
    2.0 * 6_371_000.0 * h.sqrt().asin()
}

fn civil(t: i64) -> (i64, u32, u32) {
    let z = t.div_euclid(86400) + 719468;
    let era = z.div_euclid(146097);
    let doe = z.rem_euclid(146097);
    let yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let d = (doy - (153 * mp + 2) / 5 + 1) as u32;
    let m = if mp < 10 { mp + 3 } else { mp - 9 } as u32;
    (yoe + era * 400 + i64::from(m <= 2), m, d)
}

fn write_point<W: Write>(out: &mut W, p: &Point) -> io::Result<()> {
    let (y, m, d) = civil(p.time);
    let s = p.time.rem_euclid(86400);
    writeln!(out, "      <trkpt lat=\"{:.6}\" lon=\"{:.6}\">", p.lat, p.lon)?;
    writeln!(out, "        <ele>{:.1}</ele>", p.ele)?;
    writeln!(
        out,
        "        <time>{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z</time>",
        y, m, d, s / 3600, s / 60 % 60, s % 60
    )?;
    writeln!(out, "      </trkpt>")
}

fn write_gpx(path: &Path, points: &[Point]) -> io::Result<()> {
    let mut out = File::create(path)?;
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<gpx version=\"1.1\" creator=\"gpxexport\">\n  <trk>\n    <trkseg>")?;
    for p in points {
        write_point(&mut out, p)?;
    }
    writeln!(out, "    </trkseg>\n  </trk>\n</gpx>")?;
    out.flush()
}

fn summarise(points: &[Point]) -> Summary {
    let mut s = Summary { points: points.len(), ..Default::default() };
    for w in points.windows(2) {
        let d = haversine(&w[0], &w[1]);
        s.distance += d;
        s.climb += (w[1].ele - w[0].ele).max(0.0);
        let dt = (w[1].time - w[0].time).max(1) as f64;
        s.max_speed = s.max_speed.max(d / dt);
    }
    s
}

fn offset_from(a: &Point, b: &Point, p: &Point) -> f64 {
    let k = (a.lat * PI / 180.0).cos();
    let (bx, by) = ((b.lon - a.lon) * k, b.lat - a.lat);
    let (px, py) = ((p.lon - a.lon) * k, p.lat - a.lat);
    let len = bx.hypot(by);
    if len == 0.0 {
        return px.hypot(py) * 111_195.0;
    }
    (bx * py - by * px).abs() / len * 111_195.0
}

/// Douglas-Peucker; returns the number of points kept.
fn simplify(points: &[Point], tolerance: f64) -> usize {
    let mut keep = vec![false; points.len()];
    let mut stack = vec![(0, points.len() - 1)];
    while let Some((lo, hi)) = stack.pop() {
        keep[lo] = true;
        keep[hi] = true;
        let mut worst = (0.0, lo);
        for i in lo + 1..hi {
            let d = offset_from(&points[lo], &points[hi], &points[i]);
            if d > worst.0 {
                worst = (d, i);
            }
        }
        if worst.0 > tolerance {
            stack.push((lo, worst.1));
            stack.push((worst.1, hi));
        }
    }
    keep.iter().filter(|k| **k).count()
}

fn checksum(path: &Path) -> io::Result<(u64, u64)> {
    let mut f = File::open(path)?;
    let mut buf = vec![0u8; 65536];
    let (mut h, mut n) = (0xcbf29ce484222325u64, 0u64);
    loop {
        let k = f.read(&mut buf)?;
        if k == 0 {
            return Ok((h, n));
        }
        n += k as u64;
        for &b in &buf[..k] {
            h = (h ^ b as u64).wrapping_mul(0x100000001b3);
        }
    }
}

fn output_path() -> PathBuf {
    env::temp_dir().join(format!("gpxexport-{}.gpx", process::id()))
}

fn run(input: &str) -> io::Result<()> {
    let points = read_track(input)?;
    let out = output_path();
    write_gpx(&out, &points)?;
    let (sum, bytes) = checksum(&out)?;
    fs::remove_file(&out)?;
    let s = summarise(&points);
    println!("{} points, {:.1} km, climb {:.0} m, max {:.1} m/s", s.points, s.distance / 1000.0, s.climb, s.max_speed);
    if points.len() > 1 {
        for tolerance in [2.0, 10.0, 50.0] {
            println!("at {} m: {} points", tolerance, simplify(&points, tolerance));
        }
    }
    println!("{} bytes, fnv {:016x}", bytes, sum);
    Ok(())
}

fn main() {
    let input = env::args().nth(1).unwrap_or_else(|| "data/track.csv".into());
    if let Err(e) = run(&input) {
        eprintln!("gpxexport: {}: {}", input, e);
        process::exit(1);
    }
}
