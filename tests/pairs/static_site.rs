// Pages with one header, which is read for each of them or once; each page is escaped and hashed.
use std::{env, fs};

fn header(path: &std::path::Path, kept: &mut Option<String>, fixed: bool) -> String {
    if let (Some(text), true) = (&kept, fixed) {
        return text.clone();
    }
    let text = fs::read_to_string(path).unwrap();
    *kept = Some(text.clone());
    text
}

fn main() {
    let fixed = env::args().nth(1).as_deref() == Some("fixed");
    let path = env::temp_dir().join(format!("header{}.html", std::process::id()));
    fs::write(&path, "<header><h1>Site</h1></header>\n".repeat(3)).unwrap();
    let (mut kept, mut digest) = (None, 0u64);
    for page in 0..20_000 {
        let mut text = header(&path, &mut kept, fixed);
        text.push_str(&format!("<p>page {page} & more</p>").replace('&', "&amp;"));
        digest = text.bytes().fold(digest, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(1_099_511_628_211));
    }
    fs::remove_file(path).unwrap();
    println!("{digest:x}");
}
