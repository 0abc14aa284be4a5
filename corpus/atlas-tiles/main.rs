//! Says how bright each sprite of a texture atlas is. Usage: program ATLAS WIDTH HEIGHT SPRITES

use std::error::Error;
use std::fs::{self, File};
use std::io::BufReader;

use image::dxt::{DXTVariant, DxtDecoder};
use image::ImageDecoderExt;

struct Sprite {
    sheet: String,
    place: [u32; 4],
}

fn sprites(path: &str) -> Result<Vec<Sprite>, Box<dyn Error>> {
    let mut found = Vec::new();
    for line in fs::read_to_string(path)?.lines() {
        let (sheet, numbers) = line.split_once('\t').ok_or("a line has a tab")?;
        let numbers = numbers.split(' ').map(str::parse).collect::<Result<Vec<u32>, _>>()?;
        found.push(Sprite { sheet: sheet.to_owned(), place: numbers.try_into().map_err(|_| "four numbers")? });
    }
    Ok(found)
}

fn brightness(pixels: &[u8]) -> f64 {
    let sum: u64 = pixels.chunks(3).map(|p| 299 * u64::from(p[0]) + 587 * u64::from(p[1]) + 114 * u64::from(p[2])).sum();
    sum as f64 / 1000.0 / (pixels.len() / 3) as f64
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let (width, height) = (arguments[2].parse()?, arguments[3].parse()?);
    let mut sheets: std::collections::BTreeMap<String, (u32, f64)> = Default::default();
    for Sprite { sheet, place: [x, y, wide, high] } in sprites(&arguments[4])? {
        let mut atlas = DxtDecoder::new(BufReader::new(File::open(&arguments[1])?), width, height, DXTVariant::DXT1)?;
        let mut pixels = vec![0; (wide * high * 3) as usize];
        atlas.read_rect(x, y, wide, high, &mut pixels)?;
        let one = sheets.entry(sheet).or_default();
        one.0 += 1;
        one.1 += brightness(&pixels);
    }
    for (sheet, (count, sum)) in sheets {
        println!("{sheet}: {count} sprites, brightness {:.3}", sum / f64::from(count));
    }
    Ok(())
}
