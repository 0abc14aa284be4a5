//! A connection whose reads and writes end: all of them together by one moment, and each after a while without a byte.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// See the file's head.
pub(super) struct Timed<'a> {
    stream: &'a TcpStream,
    until: Instant,
    patience: Duration,
}

impl<'a> Timed<'a> {
    /// Reads and writes of `stream` for `whole` from now on, none of which waits for longer than `patience`.
    pub fn new(stream: &'a TcpStream, whole: Duration, patience: Duration) -> Timed<'a> {
        Timed { stream, until: Instant::now() + whole, patience }
    }

    /// How long the next read or write may wait.
    fn left(&self) -> io::Result<Option<Duration>> {
        match self.until.saturating_duration_since(Instant::now()).min(self.patience) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            // The kernel counts in ticks of milliseconds, and takes 0 for no limit.
            left => Ok(Some(left.max(Duration::from_millis(1)))),
        }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        let mut stream = self.stream;
        stream.read(buffer)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        let mut stream = self.stream;
        // A write of everything would wait as often as the other side takes a little.
        stream.write(&bytes[..bytes.len().min(64 << 10)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
