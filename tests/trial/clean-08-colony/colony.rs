// colony - cell growth model: cells feed on a diffusing nutrient, divide and push apart on a grid.
use std::env;

const SIZE: usize = 640;
const DIRS: [(i32, i32); 8] = [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)];

#[derive(Clone, Copy)]
struct Cell {
    x: u16,
    y: u16,
    energy: f32,
    age: u16,
}

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }
}

struct Colony {
    cells: Vec<Cell>,
    occupied: Vec<bool>,
    nutrient: Vec<f32>,
    next: Vec<f32>,
    rng: Rng,
    births: usize,
}

fn at(x: usize, y: usize) -> usize {
    y * SIZE + x
}

fn step_to(x: u16, y: u16, d: (i32, i32)) -> (u16, u16) {
    let n = SIZE as i32;
    (((x as i32 + d.0 + n) % n) as u16, ((y as i32 + d.1 + n) % n) as u16)
}

impl Colony {
    fn new() -> Colony {
        let mut c = Colony {
            cells: Vec::new(),
            occupied: vec![false; SIZE * SIZE],
            nutrient: vec![1.0; SIZE * SIZE],
            next: vec![0.0; SIZE * SIZE],
            rng: Rng(99),
            births: 0,
        };
        for k in 0..8u16 {
            c.place(Cell { x: 60 + k * 70, y: 320 + k, energy: 1.0, age: 0 });
        }
        c
    }

    fn place(&mut self, cell: Cell) {
        self.occupied[at(cell.x as usize, cell.y as usize)] = true;
        self.cells.push(cell);
    }

    fn diffuse(&mut self) {
        for y in 0..SIZE {
            let (up, down) = ((y + SIZE - 1) % SIZE, (y + 1) % SIZE);
            for x in 0..SIZE {
                let (l, r) = ((x + SIZE - 1) % SIZE, (x + 1) % SIZE);
                let around = self.nutrient[at(l, y)] + self.nutrient[at(r, y)] + self.nutrient[at(x, up)] + self.nutrient[at(x, down)];
                let here = self.nutrient[at(x, y)];
                self.next[at(x, y)] = (here + 0.2 * (around - 4.0 * here) + 0.004).min(1.0);
            }
        }
        std::mem::swap(&mut self.nutrient, &mut self.next);
    }

    fn feed_and_divide(&mut self) {
        let mut children = Vec::new();
        for i in 0..self.cells.len() {
            let c = &mut self.cells[i];
            let spot = at(c.x as usize, c.y as usize);
            let eaten = self.nutrient[spot] * 0.25;
            self.nutrient[spot] -= eaten;
            c.energy += eaten - 0.01;
            c.age += 1;
            if c.energy < 1.6 {
                continue;
            }
            let (nx, ny) = step_to(c.x, c.y, DIRS[self.rng.below(8)]);
            let target = at(nx as usize, ny as usize);
            if !self.occupied[target] {
                c.energy *= 0.5;
                self.occupied[target] = true;
                children.push(Cell { x: nx, y: ny, energy: c.energy, age: 0 });
            }
        }
        self.births += children.len();
        self.cells.extend(children);
    }

    fn wander(&mut self) {
        for c in &mut self.cells {
            let (nx, ny) = step_to(c.x, c.y, DIRS[self.rng.below(8)]);
            let target = at(nx as usize, ny as usize);
            if !self.occupied[target] {
                self.occupied[at(c.x as usize, c.y as usize)] = false;
                self.occupied[target] = true;
                c.x = nx;
                c.y = ny;
            }
        }
    }

    fn bury(&mut self) {
        let occupied = &mut self.occupied;
        self.cells.retain(|c| {
            let alive = c.energy > 0.0;
            if !alive {
                occupied[at(c.x as usize, c.y as usize)] = false;
            }
            alive
        });
    }

    fn stats(&self, t: usize) {
        let energy: f64 = self.cells.iter().map(|c| c.energy as f64).sum();
        let food: f64 = self.nutrient.iter().map(|&n| n as f64).sum();
        let oldest = self.cells.iter().map(|c| c.age).max().unwrap_or(0);
        println!("{:>5} cells {:>6} births {:>7} energy {:>9.1} food {:>9.1} oldest {}", t, self.cells.len(), self.births, energy, food, oldest);
    }
}

fn main() {
    let steps = env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1400);
    let mut colony = Colony::new();
    for t in 1..=steps {
        colony.diffuse();
        colony.feed_and_divide();
        colony.wander();
        colony.bury();
        if t % 200 == 0 {
            colony.stats(t);
        }
    }
}
