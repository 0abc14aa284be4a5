//! Builds the suffix array of a text by prefix doubling: in each round the suffixes are sorted again, by twice as many
//! letters, until all ranks differ. From it come the longest common prefixes, repeats, and the counts of some patterns.

const LENGTH: usize = 4_200_000;

fn make_text(n: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(n);
    let mut state = 2463534242u64;
    let mut draw = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) as usize % limit
    };
    while text.len() < n {
        if text.len() > 2000 && draw(40) == 0 {
            let from = draw(text.len() - 600);
            let length = 20 + draw(500);
            for i in 0..length.min(n - text.len()) {
                let letter = if draw(200) == 0 { b"ACGT"[draw(4)] } else { text[from + i] };
                text.push(letter);
            }
        } else {
            for _ in 0..draw(30).min(n - text.len()) {
                text.push(b"ACGT"[draw(4)]);
            }
        }
    }
    text
}

/// Sorts `order` by the key of each suffix, stably, by counting.
fn counting_sort(order: &[u32], out: &mut [u32], key: impl Fn(u32) -> usize, counts: &mut [u32]) {
    counts.fill(0);
    for &i in order {
        counts[key(i)] += 1;
    }
    let mut sum = 0;
    for c in counts.iter_mut() {
        let here = *c;
        *c = sum;
        sum += here;
    }
    for &i in order {
        let slot = &mut counts[key(i)];
        out[*slot as usize] = i;
        *slot += 1;
    }
}

fn suffix_array(text: &[u8]) -> (Vec<u32>, Vec<u32>, usize) {
    let n = text.len();
    let mut rank: Vec<u32> = text.iter().map(|&b| b as u32).collect();
    let mut order: Vec<u32> = (0..n as u32).collect();
    let (mut by_second, mut next) = (vec![0u32; n], vec![0u32; n]);
    let mut counts = vec![0u32; n.max(256) + 2];
    counting_sort(&(0..n as u32).collect::<Vec<_>>(), &mut order, |i| rank[i as usize] as usize, &mut counts[..257]);
    let mut classes = rerank(&order, &mut next, |a, b| rank[a as usize] == rank[b as usize]);
    std::mem::swap(&mut rank, &mut next);
    let (mut k, mut rounds) = (1, 0);
    while classes < n {
        let mut at = 0;
        for i in n - k..n {
            by_second[at] = i as u32;
            at += 1;
        }
        for &i in &order {
            if i as usize >= k {
                by_second[at] = i - k as u32;
                at += 1;
            }
        }
        counting_sort(&by_second, &mut order, |i| rank[i as usize] as usize, &mut counts[..classes + 1]);
        classes = rerank(&order, &mut next, |a, b| {
            let second = |i: u32| rank.get(i as usize + k).copied();
            rank[a as usize] == rank[b as usize] && second(a) == second(b)
        });
        std::mem::swap(&mut rank, &mut next);
        k *= 2;
        rounds += 1;
    }
    (order, rank, rounds)
}

fn rerank(order: &[u32], into: &mut [u32], same: impl Fn(u32, u32) -> bool) -> usize {
    let mut class = 0;
    into[order[0] as usize] = 0;
    for pair in order.windows(2) {
        if !same(pair[0], pair[1]) {
            class += 1;
        }
        into[pair[1] as usize] = class;
    }
    class as usize + 1
}

fn common_prefixes(text: &[u8], order: &[u32], rank: &[u32]) -> Vec<u32> {
    let n = text.len();
    let mut lcp = vec![0u32; n];
    let mut h = 0;
    for i in 0..n {
        if rank[i] == 0 {
            h = 0;
            continue;
        }
        let j = order[rank[i] as usize - 1] as usize;
        while i + h < n && j + h < n && text[i + h] == text[j + h] {
            h += 1;
        }
        lcp[rank[i] as usize] = h as u32;
        h = h.saturating_sub(1);
    }
    lcp
}

fn occurrences(text: &[u8], order: &[u32], pattern: &[u8]) -> usize {
    let prefix = |i: u32| &text[i as usize..(i as usize + pattern.len()).min(text.len())];
    let low = order.partition_point(|&i| prefix(i) < pattern);
    let high = order.partition_point(|&i| prefix(i) <= pattern);
    high - low
}

fn main() {
    let text = make_text(LENGTH);
    let (order, rank, rounds) = suffix_array(&text);
    let lcp = common_prefixes(&text, &order, &rank);
    let longest = (0..lcp.len()).max_by_key(|&i| lcp[i]).unwrap();
    let repeated = lcp.iter().filter(|&&l| l >= 20).count();
    let digest = order.iter().fold(7u64, |h, &i| (h ^ i as u64).wrapping_mul(0x100000001b3));
    println!("{} letters, {} rounds, digest {:016x}", text.len(), rounds, digest);
    println!("longest repeat {} at {}, {} suffixes repeat 20 letters", lcp[longest], order[longest], repeated);
    let (mut found, mut sum) = (0, 0);
    for i in (0..text.len() - 24).step_by(97) {
        let n = occurrences(&text, &order, &text[i..i + 8 + i % 16]);
        found += (n > 1) as usize;
        sum += n;
    }
    println!("patterns found more than once {found}, occurrences {sum}");
}
