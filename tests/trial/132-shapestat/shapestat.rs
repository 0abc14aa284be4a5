//! Reads the shapes of some layers through their index files and computes the area, the extent and the density of the
//! shapes for each cell of a coarse grid.
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

const GRID: usize = 16;
const EXTENT: f64 = 4096.0;

#[derive(Clone, Copy)]
struct ShapeIndex {
    offset: u64,
    length: u32,
}

#[derive(Clone, Copy, Debug)]
struct Point {
    x: f64,
    y: f64,
}

enum Shape {
    Point(Point),
    Polygon(Vec<Point>),
}

struct Record {
    number: u32,
    shape: Shape,
}

struct ShapeReader {
    source: BufReader<File>,
    index: Vec<ShapeIndex>,
    next: usize,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    parcels: u64,
    points: u64,
    area: f64,
    corners: u64,
}

struct Statistics {
    cells: Vec<Cell>,
    min: Point,
    max: Point,
    numbers: u64,
}

// ---- reading numbers ----

fn read_u32_be(r: &mut impl Read) -> io::Result<u32> {
    let mut b = [0; 4];
    r.read_exact(&mut b)?;
    Ok(u32::from_be_bytes(b))
}

fn read_i32(r: &mut impl Read) -> io::Result<i32> {
    let mut b = [0; 4];
    r.read_exact(&mut b)?;
    Ok(i32::from_le_bytes(b))
}

fn read_f32(r: &mut impl Read) -> io::Result<f32> {
    let mut b = [0; 4];
    r.read_exact(&mut b)?;
    Ok(f32::from_le_bytes(b))
}

fn read_f64(r: &mut impl Read) -> io::Result<f64> {
    let mut b = [0; 8];
    r.read_exact(&mut b)?;
    Ok(f64::from_le_bytes(b))
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

// ---- index and shapes ----

fn read_index(path: &str) -> io::Result<Vec<ShapeIndex>> {
    let mut source = BufReader::new(File::open(path)?);
    let mut header = [0; 100];
    source.read_exact(&mut header)?;
    if &header[..4] != b"SHXF" {
        return Err(bad("not an index"));
    }
    let mut index = Vec::new();
    loop {
        let offset = match read_u32_be(&mut source) {
            Ok(v) => v as u64,
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(index),
            Err(e) => return Err(e),
        };
        index.push(ShapeIndex { offset, length: read_u32_be(&mut source)? });
    }
}

impl ShapeReader {
    fn open(shapes: &str, index: &str) -> io::Result<Self> {
        let mut source = BufReader::with_capacity(65536, File::open(shapes)?);
        let mut header = [0; 100];
        source.read_exact(&mut header)?;
        if &header[..4] != b"SHPF" {
            return Err(bad("not a shape file"));
        }
        Ok(ShapeReader { source, index: read_index(index)?, next: 0 })
    }

    fn read_shape(&mut self) -> io::Result<Shape> {
        match read_i32(&mut self.source)? {
            1 => Ok(Shape::Point(Point { x: read_f64(&mut self.source)?, y: read_f64(&mut self.source)? })),
            5 => {
                let count = read_i32(&mut self.source)?;
                if !(3..=1000).contains(&count) {
                    return Err(bad("polygon"));
                }
                let mut points = Vec::with_capacity(count as usize);
                for _ in 0..count {
                    let x = read_f32(&mut self.source)? as f64;
                    let y = read_f32(&mut self.source)? as f64;
                    points.push(Point { x, y });
                }
                Ok(Shape::Polygon(points))
            }
            _ => Err(bad("shape type")),
        }
    }

    fn read_record(&mut self, entry: ShapeIndex) -> io::Result<Record> {
        self.source.seek(SeekFrom::Start(entry.offset))?;
        let number = read_u32_be(&mut self.source)?;
        if read_u32_be(&mut self.source)? != entry.length {
            return Err(bad("length"));
        }
        let shape = self.read_shape()?;
        Ok(Record { number, shape })
    }
}

impl Iterator for ShapeReader {
    type Item = io::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = *self.index.get(self.next)?;
        self.next += 1;
        Some(self.read_record(entry))
    }
}

// ---- statistics ----

fn ring_area(points: &[Point]) -> f64 {
    let mut twice = 0.0;
    for (i, a) in points.iter().enumerate() {
        let b = points[(i + 1) % points.len()];
        twice += a.x * b.y - b.x * a.y;
    }
    twice.abs() / 2.0
}

fn centre(points: &[Point]) -> Point {
    let n = points.len() as f64;
    Point { x: points.iter().map(|p| p.x).sum::<f64>() / n, y: points.iter().map(|p| p.y).sum::<f64>() / n }
}

impl Statistics {
    fn new() -> Self {
        let far = f64::INFINITY;
        Statistics { cells: vec![Cell::default(); GRID * GRID], min: Point { x: far, y: far }, max: Point { x: -far, y: -far }, numbers: 0 }
    }

    fn cell(&mut self, p: Point) -> &mut Cell {
        let column = (p.x / EXTENT * GRID as f64).clamp(0.0, GRID as f64 - 1.0) as usize;
        let row = (p.y / EXTENT * GRID as f64).clamp(0.0, GRID as f64 - 1.0) as usize;
        &mut self.cells[row * GRID + column]
    }

    fn extend(&mut self, p: Point) {
        self.min = Point { x: self.min.x.min(p.x), y: self.min.y.min(p.y) };
        self.max = Point { x: self.max.x.max(p.x), y: self.max.y.max(p.y) };
    }

    fn add(&mut self, record: &Record) {
        self.numbers = self.numbers.wrapping_mul(31).wrapping_add(record.number as u64);
        match &record.shape {
            Shape::Point(p) => {
                self.extend(*p);
                self.cell(*p).points += 1;
            }
            Shape::Polygon(points) => {
                points.iter().for_each(|p| self.extend(*p));
                let area = ring_area(points);
                let cell = self.cell(centre(points));
                cell.parcels += 1;
                cell.area += area;
                cell.corners += points.len() as u64;
            }
        }
    }

    fn print(&self) {
        println!("extent {:.2} {:.2} .. {:.2} {:.2}, numbers {:016x}", self.min.x, self.min.y, self.max.x, self.max.y, self.numbers);
        for (i, c) in self.cells.iter().enumerate().step_by(37) {
            println!("cell {:3}: {} parcels, {} points, {:.1} area, {:.3} corners", i, c.parcels, c.points, c.area,
                     c.corners as f64 / c.parcels.max(1) as f64);
        }
    }
}

fn main() -> io::Result<()> {
    for layer in ["parcels", "buildings", "parks"] {
        let mut statistics = Statistics::new();
        for record in ShapeReader::open(&format!("data/{layer}.shp"), &format!("data/{layer}.shx"))? {
            statistics.add(&record?);
        }
        println!("{layer}");
        statistics.print();
    }
    Ok(())
}
