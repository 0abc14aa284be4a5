//! Simulates the dispatching of couriers: once a minute all waiting orders are
//! assigned to the free couriers such that the total way is the shortest
//! (Hungarian method), then the couriers move on.

use std::collections::VecDeque;

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: i32) -> i32 {
        ((self.next() >> 33) % n as u64) as i32
    }
}

#[derive(Clone, Copy, Debug)]
struct Pos {
    x: i32,
    y: i32,
}

impl Pos {
    fn random(rng: &mut Rng, size: i32) -> Pos {
        Pos { x: rng.below(size), y: rng.below(size) }
    }

    fn distance(self, o: Pos) -> i64 {
        ((self.x - o.x).abs() + (self.y - o.y).abs()) as i64
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vehicle {
    Bike,
    Scooter,
    Car,
}

impl Vehicle {
    fn speed(self) -> i64 {
        match self {
            Vehicle::Bike => 25,
            Vehicle::Scooter => 40,
            Vehicle::Car => 55,
        }
    }

    fn capacity(self) -> u32 {
        match self {
            Vehicle::Bike => 4,
            Vehicle::Scooter => 6,
            Vehicle::Car => 150,
        }
    }
}

struct Order {
    id: u32,
    from: Pos,
    to: Pos,
    weight: u32,
    placed: u32,
}

struct Courier {
    at: Pos,
    vehicle: Vehicle,
    /// free again from this minute on
    busy_until: u32,
    way: i64,
    done: u32,
}

/// The cost matrix of one round, row by row (a row for each order).
struct CostMatrix {
    rows: usize,
    cols: usize,
    cost: Vec<i64>,
}

const IMPOSSIBLE: i64 = 1 << 40;

impl CostMatrix {
    fn fill(&mut self, orders: &[Order], couriers: &[Courier], free: &[usize], now: u32) {
        self.rows = orders.len();
        self.cols = free.len();
        self.cost.clear();
        for o in orders {
            // who waits for long has precedence
            let bonus = 8 * (now - o.placed) as i64;
            for &c in free {
                let k = &couriers[c];
                self.cost.push(if o.weight > k.vehicle.capacity() {
                    IMPOSSIBLE
                } else {
                    let minutes = 100 * (k.at.distance(o.from) + o.from.distance(o.to)) / k.vehicle.speed();
                    (minutes - bonus).max(0) + if k.vehicle == Vehicle::Car { 150 } else { 0 }
                });
            }
        }
    }

    fn row(&self, r: usize) -> &[i64] {
        &self.cost[r * self.cols..(r + 1) * self.cols]
    }
}

/// Working storage of the assignment, kept from round to round.
#[derive(Default)]
struct Hungarian {
    u: Vec<i64>,
    v: Vec<i64>,
    matched: Vec<usize>,
    from: Vec<usize>,
    minv: Vec<i64>,
    used: Vec<bool>,
    rounds: u64,
}

impl Hungarian {
    /// Finds the cheapest assignment of rows to columns (rows <= cols). Each
    /// row is put in with a shortest augmenting path on the dense matrix.
    fn solve(&mut self, m: &CostMatrix, result: &mut Vec<usize>) -> i64 {
        let (n, w) = (m.rows, m.cols);
        assert!(n <= w);
        const NONE: usize = usize::MAX;
        self.u.clear();
        self.u.resize(n, 0);
        self.v.clear();
        self.v.resize(w + 1, 0);
        self.matched.clear();
        self.matched.resize(w + 1, NONE);
        self.from.clear();
        self.from.resize(w + 1, w);
        for r in 0..n {
            self.matched[w] = r;
            let mut col = w;
            self.minv.clear();
            self.minv.resize(w, i64::MAX);
            self.used.clear();
            self.used.resize(w + 1, false);
            while self.matched[col] != NONE {
                self.used[col] = true;
                let i = self.matched[col];
                let (next, delta) = self.relax(m.row(i), i, col);
                self.shift(delta, w);
                col = next;
                self.rounds += 1;
            }
            while col != w {
                let prev = self.from[col];
                self.matched[col] = self.matched[prev];
                col = prev;
            }
        }
        result.clear();
        result.resize(n, NONE);
        for (c, &r) in self.matched[..w].iter().enumerate() {
            if r != NONE {
                result[r] = c;
            }
        }
        result.iter().enumerate().map(|(r, &c)| m.row(r)[c]).sum()
    }

    /// Lowers the distances of the columns over row i and gives the nearest.
    fn relax(&mut self, row: &[i64], i: usize, col: usize) -> (usize, i64) {
        let (mut next, mut delta) = (0, i64::MAX);
        let ui = self.u[i];
        for (j, &cost) in row.iter().enumerate() {
            if self.used[j] {
                continue;
            }
            let reduced = cost - ui - self.v[j];
            if reduced < self.minv[j] {
                self.minv[j] = reduced;
                self.from[j] = col;
            }
            if self.minv[j] < delta {
                delta = self.minv[j];
                next = j;
            }
        }
        (next, delta)
    }

    fn shift(&mut self, delta: i64, w: usize) {
        for j in 0..w {
            if self.used[j] {
                self.u[self.matched[j]] += delta;
                self.v[j] -= delta;
            } else {
                self.minv[j] -= delta;
            }
        }
        self.u[self.matched[w]] += delta;
        self.v[w] -= delta;
    }
}

struct Town {
    rng: Rng,
    couriers: Vec<Courier>,
    waiting: VecDeque<Order>,
    next_order: u32,
}

impl Town {
    const SIZE: i32 = 1200;

    fn new(couriers: usize, seed: u64) -> Town {
        let mut rng = Rng(seed);
        let couriers = (0..couriers)
            .map(|i| Courier {
                at: Pos::random(&mut rng, Town::SIZE),
                vehicle: [Vehicle::Bike, Vehicle::Scooter, Vehicle::Bike, Vehicle::Car][i % 4],
                busy_until: 0,
                way: 0,
                done: 0,
            })
            .collect();
        Town { rng, couriers, waiting: VecDeque::new(), next_order: 1 }
    }

    fn place_orders(&mut self, now: u32) {
        // the meals come in waves
        let n = match now % 60 {
            0..=9 => 190,
            30..=34 => 150,
            _ => 90,
        } + self.rng.below(20);
        for _ in 0..n {
            let (from, to) = (Pos::random(&mut self.rng, Town::SIZE), Pos::random(&mut self.rng, Town::SIZE));
            let weight = 1 + self.rng.below(if self.rng.0 % 9 == 0 { 20 } else { 4 }) as u32;
            self.waiting.push_back(Order { id: self.next_order, from, to, weight, placed: now });
            self.next_order += 1;
        }
    }
}

#[derive(Default, Debug)]
struct Report {
    delivered: u32,
    refused: u32,
    cost: i64,
    waited: u64,
    longest_queue: usize,
    checksum: u64,
}

fn main() {
    let mut town = Town::new(3200, 0x2545f4914f6cdd1d);
    let mut solver = Hungarian::default();
    let mut matrix = CostMatrix { rows: 0, cols: 0, cost: Vec::new() };
    let mut report = Report::default();
    let (mut free, mut batch, mut assigned) = (Vec::new(), Vec::new(), Vec::new());

    for now in 0..900u32 {
        town.place_orders(now);
        report.longest_queue = report.longest_queue.max(town.waiting.len());
        free.clear();
        free.extend((0..town.couriers.len()).filter(|&c| town.couriers[c].busy_until <= now));
        let n = town.waiting.len().min(free.len());
        batch.extend(town.waiting.drain(..n));
        matrix.fill(&batch, &town.couriers, &free, now);
        let cost = solver.solve(&matrix, &mut assigned);
        for (r, order) in batch.drain(..).enumerate() {
            if matrix.row(r)[assigned[r]] >= IMPOSSIBLE {
                report.refused += 1;
                continue;
            }
            let k = &mut town.couriers[free[assigned[r]]];
            let way = k.at.distance(order.from) + order.from.distance(order.to);
            k.way += way;
            k.done += 1;
            k.busy_until = now + 1 + (way / k.vehicle.speed()) as u32;
            k.at = order.to;
            report.delivered += 1;
            report.waited += (now - order.placed) as u64;
            report.checksum = report.checksum.wrapping_mul(31).wrapping_add(order.id as u64 ^ way as u64);
        }
        report.cost += cost % IMPOSSIBLE;
        if now % 180 == 179 {
            println!("minute {}: {} waiting, {} free, {} rounds", now + 1, town.waiting.len(), free.len(), solver.rounds);
        }
    }
    println!("{report:?}");
    let best = town.couriers.iter().max_by_key(|k| (k.done, k.way)).unwrap();
    println!("busiest courier: {} orders, way {}, {:?}", best.done, best.way, best.vehicle);
}
