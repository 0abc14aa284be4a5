//! Five threads book payments and write each to a journal that must reach the disk of another machine (2 ms). `slow` holds the accounts'
//! lock meanwhile.

use std::sync::{Arc, Mutex};
use std::time::Duration;

fn journal(amount: u64) -> u64 {
    std::thread::sleep(Duration::from_millis(2));
    amount
}

fn book(accounts: &Mutex<Vec<u64>>, account: usize, amount: u64, fixed: bool) {
    if fixed {
        let amount = journal(amount);
        accounts.lock().unwrap()[account] += amount;
    } else {
        let mut accounts = accounts.lock().unwrap();
        accounts[account] += journal(amount);
    }
}

fn main() {
    let fixed = std::env::args().nth(1).as_deref() == Some("fixed");
    let accounts = Arc::new(Mutex::new(vec![0; 10]));
    let threads: Vec<_> = (0..5)
        .map(|thread| {
            let accounts = accounts.clone();
            std::thread::spawn(move || {
                for payment in 0..80 {
                    book(&accounts, (thread + payment) % 10, payment as u64, fixed);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    println!("{}", accounts.lock().unwrap().iter().sum::<u64>());
}
