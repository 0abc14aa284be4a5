// Sorts tracks by artist and title. `slow` formats the keys of both tracks in each comparison, `fixed` each key once.
struct Track {
    artist: String,
    title: String,
    number: u32,
}

fn key(track: &Track) -> String {
    format!("{} / {:04} / {}", track.artist.to_uppercase(), track.number, track.title)
}

fn main() {
    let fixed = std::env::args().nth(1).as_deref() == Some("fixed");
    let mut seed = 7u64;
    let mut tracks: Vec<Track> = (0..360_000)
        .map(|at| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let artist = format!("Artist {}", seed >> 52);
            Track { artist, title: format!("Song {}", at % 977), number: (seed >> 20) as u32 % 40 }
        })
        .collect();
    if fixed {
        tracks.sort_by_cached_key(key);
    } else {
        tracks.sort_by(|a, b| key(a).cmp(&key(b)));
    }
    let sum = tracks.iter().fold(0u64, |sum, track| sum.wrapping_mul(31).wrapping_add(u64::from(track.number)));
    println!("{} {} {sum}", tracks[0].title, tracks[tracks.len() - 1].title);
}
