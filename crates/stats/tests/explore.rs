mod trial;
use slowpath_stats::*;
use trial::*;
fn tally(name: &str, n: u64, f: impl Fn(&mut Random) -> Vec<Point>) {
    let (mut fl, mut st, mut un, mut pw, mut guilty, mut fallp) = (0, 0, 0, 0, 0, 0);
    let (mut ps, mut r2s) = (vec![], vec![]);
    for s in 0..n {
        let g = growth(&f(&mut Random::new(s + 1)));
        match g.shape {
            Shape::Flat => fl += 1,
            Shape::Steps { .. } => st += 1,
            Shape::Unclear => un += 1,
            Shape::Power { exponent, falling, .. } => {
                pw += 1;
                if falling { fallp += 1; }
                ps.push(exponent);
                r2s.push(g.r2);
                if (0.6..=2.5).contains(&exponent) && g.r2 >= 0.8 && g.spearman.abs()>0.8 && g.last_to_first>1.8 { guilty += 1; }
            }
        }
    }
    let q = |v: &[f64], p| quantile(v, p).unwrap_or(0.0);
    println!(
        "{name:28} flat {fl:4} steps {st:4} unclear {un:4} power {pw:4} (falling {fallp}, guilty {guilty}) p {:.2}..{:.2}..{:.2} r2 {:.2}..{:.2}..{:.2}",
        q(&ps, 0.025), q(&ps, 0.5), q(&ps, 0.975), q(&r2s, 0.025), q(&r2s, 0.5), q(&r2s, 0.975)
    );
}
fn merge_sort(log: u32) -> impl Fn(f64) -> f64 {
    let n = 2f64.powi(log as i32);
    move |k| { let mut left = n / 2.0; let mut c = 1.0; let mut at = k; while at > left && left > 1.0 { at -= left; left /= 2.0; c *= 2.0; } c }
}
fn scaled(m: usize, per: f64, c: impl Fn(f64) -> f64, r: &mut Random, n: usize) -> Vec<Point> {
    let t = exact(m, n / m, c);
    let mean = t.iter().map(|p| p.cost).sum::<f64>() / m as f64;
    t.iter().map(|p| { let s = r.poisson(p.cost / mean * per); Point { k: p.k, cost: s, variance: s } }).collect()
}
#[test]
fn explore() {
    let n = 200;
    for per in [25.0, 100.0, 400.0] {
        println!("-- {per} samples a bucket");
        let go = |name: &str, c: &dyn Fn(f64) -> f64| tally(name, n, |r| sampled(20, per, c, |m| r.poisson(m)));
        go("linear", &|k| k);
        go("quadratic", &|k| k * k);
        go("sqrt", &|k| k.sqrt());
        go("20% base+linear", &|k| 100.0 + k);
        go("50% base+linear", &|k| 500.0 + k);
        go("linear falling", &|k| 1001.0 - k);
        go("quad falling", &|k| (1001.0 - k) * (1001.0 - k));
        go("flat", &|_| 1.0);
        tally("flat x4 dispersion", 1000, |r| sampled(20, per, |_| 1.0, |m| (m + 2.0 * m.sqrt() * r.normal()).max(0.0).round()));
        tally("flat 30% bucket noise", 1000, |r| sampled(20, per, |_| 1.0, |m| { let e = (0.3 * r.normal()).exp(); r.poisson(m * e) }));
        tally("flat 100% bucket noise", 1000, |r| sampled(20, per, |_| 1.0, |m| { let e = r.normal().exp(); r.poisson(m * e) }));
        tally("linear 30% bucket noise", n, |r| sampled(20, per, |k| k, |m| { let e = (0.3 * r.normal()).exp(); r.poisson(m * e) }));
        go("doubling", &|k| if (k as u64).is_power_of_two() { 1.0 + 2.0 * k } else { 1.0 });
        go("doubling x10", &|k| if (k as u64).is_power_of_two() { 1.0 + 10.0 * k } else { 1.0 });
        tally("doubling 1024 calls x3", n, |r| scaled(32, per, |k| if (k as u64).is_power_of_two() { 1.0 + 3.0 * k } else { 1.0 }, r, 1024));
        go("two phases 1:2", &|k| if k < 500.0 { 1.0 } else { 2.0 });
        go("two phases 1:3", &|k| if k < 400.0 { 1.0 } else { 3.0 });
        go("two phases 1:3 at 70%", &|k| if k < 700.0 { 1.0 } else { 3.0 });
        go("two phases 1:3 at 90%", &|k| if k < 900.0 { 1.0 } else { 3.0 });
        go("three phases 1:2:4", &|k| if k < 350.0 { 1.0 } else if k < 700.0 { 2.0 } else { 4.0 });
        go("three phases 1:3:6", &|k| if k < 300.0 { 1.0 } else if k < 600.0 { 3.0 } else { 6.0 });
        go("three phases 1:2:3", &|k| if k < 333.0 { 1.0 } else if k < 666.0 { 2.0 } else { 3.0 });
        go("log 1+ln k", &|k| 1.0 + k.ln());
        go("log k", &|k| k.ln());
        go("5+log k", &|k| 5.0 + k.ln());
        for (x, s) in [(100.0, 2), (300.0, 2), (300.0, 4), (500.0, 2), (500.0, 4), (500.0, 8), (700.0, 4), (800.0, 2), (1000.0, 2)] {
            go(&format!("cache 1:5 k0 {x} s {s}"), &|k| 1.0 + 4.0 / (1.0 + (x / k as f64).powi(s)));
        }
        tally("merge sort 2^10", n, |r| scaled(20, per, merge_sort(10), r, 1024));
        tally("merge sort 2^16", n, |r| scaled(20, per, merge_sort(16), r, 65536));
        go("warm-up 2% x10", &|k| if k < 20.0 { 10.0 } else { 1.0 });
        go("warm-up 5% x10", &|k| if k < 50.0 { 10.0 } else { 1.0 });
        go("warm-up decay", &|k| 1.0 + 10.0 * (-k / 30.0).exp());
        go("warm-up slow decay", &|k| 1.0 + 3.0 * (-k / 100.0).exp());
        go("10% rise", &|k| 1.0 + 0.1 * k / 1000.0);
    }
}
