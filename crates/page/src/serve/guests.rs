//! Who is connected: a bounded number at a time. Where there is no room, whoever has been here longest without having asked
//! for the page has to go, so that nobody who does not know the page's address can keep out who does.

use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// See the file's head.
#[derive(Debug)]
pub(super) struct Guests {
    most: usize,
    here: Mutex<Vec<Guest>>,
    left: Condvar,
}

#[derive(Debug)]
struct Guest {
    stream: Arc<TcpStream>,
    /// It asked for the page by its address.
    knows: bool,
}

impl Guests {
    /// No more than `most` at a time.
    pub fn new(most: usize) -> Guests {
        Guests { most, here: Mutex::default(), left: Condvar::new() }
    }

    /// Lets one in. None if all who are here are being given the page: the connection is then to be closed.
    pub fn admit(&self, stream: TcpStream) -> Option<Visit<'_>> {
        let mut here = self.lock();
        if here.len() >= self.most {
            let idle = here.iter().find(|guest| !guest.knows)?;
            // Its thread waits for this connection and for nothing else, so it ends now.
            let _ = idle.stream.shutdown(Shutdown::Both);
            let full = |here: &mut Vec<Guest>| here.len() >= self.most;
            here = self.left.wait_while(here, full).unwrap_or_else(PoisonError::into_inner);
        }
        let stream = Arc::new(stream);
        here.push(Guest { stream: Arc::clone(&stream), knows: false });
        Some(Visit { guests: self, stream })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Guest>> {
        // Nothing is done under the lock that leaves the list half changed.
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection, as long as it lasts.
#[derive(Debug)]
pub(super) struct Visit<'a> {
    guests: &'a Guests,
    stream: Arc<TcpStream>,
}

impl Visit<'_> {
    /// The connection.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// It asked for the page by its address: it stays until it has the page, or until its time is over.
    pub fn knows(&self) {
        for guest in self.guests.lock().iter_mut() {
            guest.knows |= Arc::ptr_eq(&guest.stream, &self.stream);
        }
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        self.guests.lock().retain(|guest| !Arc::ptr_eq(&guest.stream, &self.stream));
        self.guests.left.notify_all();
    }
}
