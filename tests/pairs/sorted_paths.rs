// Sorts the paths of a tree. `slow` compares them as paths, `fixed` as texts (none of them is written in two ways).
use std::path::PathBuf;

fn main() {
    let fixed = std::env::args().nth(1).as_deref() == Some("fixed");
    let mut seed = 7u64;
    let mut paths: Vec<PathBuf> = (0..200_000)
        .map(|_| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            PathBuf::from(format!(
                "/srv/projects/archive/{}/{}/file{}.txt",
                seed >> 58,
                seed >> 50 & 63,
                seed >> 20 & 0xffffff
            ))
        })
        .collect();
    if fixed {
        paths.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    } else {
        paths.sort();
    }
    let length: usize = paths.iter().map(|path| path.as_os_str().len()).sum();
    println!("{length} {}", paths[1000].display());
}
