// Prints bytes as rows of hexadecimal numbers. `slow` writes each to the standard output, `fixed` to a buffer in front of it.
use std::io::{self, BufWriter, Write};

fn print(out: &mut impl Write) -> io::Result<()> {
    for row in 0..20_000usize {
        for column in 0..256 {
            let byte = row * 31 + column * 7;
            let digits = b"0123456789abcdef";
            out.write_all(&[digits[byte >> 4 & 15], digits[byte & 15], b' '])?;
        }
        out.write_all(b"\n")?;
    }
    out.flush()
}

fn main() -> io::Result<()> {
    let fixed = std::env::args().nth(1).as_deref() == Some("fixed");
    let mut out = io::stdout().lock();
    if fixed {
        print(&mut BufWriter::new(out))
    } else {
        print(&mut out)
    }
}
