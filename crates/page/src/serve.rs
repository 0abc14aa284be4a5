//! Serves one page to browsers of this machine: on 127.0.0.1, at a path that only its receiver knows.
//!
//! Answers GET and HEAD of that one path and nothing else. A request whose `Host` is another name than this address, or whose
//! `Origin` is another page, is refused, so that no other site can have a browser read the page. Everybody on the machine can
//! connect; each connection has a thread (`guests` bounds them) and a time by which it is over (`timed`).

mod guests;
mod timed;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use guests::{Guests, Visit};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener};
use std::time::Duration;
use timed::Timed;

/// A request's head may have so many bytes.
const HEAD: u64 = 16 * 1024;
/// A thread's stack, bytes: a request is not deep.
const STACK: usize = 256 * 1024;
/// How long to wait where no connection can be taken, such as when descriptors run out.
const PAUSE: Duration = Duration::from_millis(50);

/// What a connection may take.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// So many at a time.
    connections: usize,
    /// From the connection to the end of the request's head.
    head: Duration,
    /// From there to the last byte of the answer: a large page may have a slow tunnel to go through.
    answer: Duration,
    /// Who sends or takes nothing for so long is let go.
    patience: Duration,
}

const LIMITS: Limits = Limits {
    connections: 32,
    head: Duration::from_secs(10),
    answer: Duration::from_secs(300),
    patience: Duration::from_secs(10),
};

/// A page that is ready to be asked for.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: String,
    limits: Limits,
    guests: Guests,
}

/// Why a page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No port of 127.0.0.1 can be had.
    #[error("cannot listen on 127.0.0.1: {0}. Write the page to a file with --output and open that")]
    Listen(std::io::Error),
    /// The kernel gives no random numbers.
    #[error("cannot get random numbers for the page's address: {0}")]
    Random(getrandom::Error),
}

/// What is read of a request.
#[derive(Debug, Default, PartialEq)]
struct Request<'a> {
    method: &'a str,
    path: &'a str,
    hosts: Vec<&'a str>,
    origins: Vec<&'a str>,
}

impl Server {
    /// Takes a free port and makes up a token.
    pub fn new() -> Result<Server, Error> {
        Server::with(LIMITS)
    }

    fn with(limits: Limits) -> Result<Server, Error> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(Error::Random)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Error::Listen)?;
        let address = listener.local_addr().map_err(Error::Listen)?;
        let guests = Guests::new(limits.connections);
        Ok(Server { listener, address, token: URL_SAFE_NO_PAD.encode(random), limits, guests })
    }

    /// Where the page is. Whoever knows it can read the page.
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.token)
    }

    /// Answers requests for `page` as long as the process lives.
    pub fn run(&self, page: &str) {
        std::thread::scope(|threads| {
            for stream in self.listener.incoming() {
                let Ok(stream) = stream else {
                    std::thread::sleep(PAUSE);
                    continue;
                };
                let Some(visit) = self.guests.admit(stream) else { continue };
                // A browser that closed the connection needs no answer; and where no thread can be had, the visit ends here.
                let thread = std::thread::Builder::new().name("connection".to_owned()).stack_size(STACK);
                let _ = thread.spawn_scoped(threads, move || self.answer(&visit, page));
            }
        });
    }

    fn answer(&self, visit: &Visit<'_>, page: &str) -> std::io::Result<()> {
        let stream = visit.stream();
        let head = head(&mut Timed::new(stream, self.limits.head, self.limits.patience))?;
        let head = String::from_utf8_lossy(&head);
        let request = Request::parse(&head);
        let (status, body) = match &request {
            Ok(request) => self.respond(request, page),
            Err(status) => (*status, "This request is not valid."),
        };
        if status == "200 OK" {
            visit.knows();
        }
        let mut out = Timed::new(stream, self.limits.answer, self.limits.patience);
        let policy = format!("{}; frame-ancestors 'none'", crate::html::policy());
        write!(
            out,
            "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
             Content-Security-Policy: {policy}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
            body.len()
        )?;
        if !request.is_ok_and(|request| request.method == "HEAD") {
            out.write_all(body.as_bytes())?;
        }
        stream.shutdown(Shutdown::Write)
    }

    /// The status and the body for a request.
    fn respond<'p>(&self, request: &Request<'_>, page: &'p str) -> (&'static str, &'p str) {
        let port = self.address.port();
        let names = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let ours = |host: &str| names.iter().any(|name| name == host);
        let host = matches!(request.hosts.as_slice(), [host] if ours(host));
        // Only what a page asks for by itself has an origin: ours asks for nothing.
        let own = |origin: &str| origin.strip_prefix("http://").is_some_and(ours);
        if !host || !request.origins.iter().all(|origin| own(origin)) {
            return ("403 Forbidden", "This page is only available to browsers on this machine.");
        }
        if request.method != "GET" && request.method != "HEAD" {
            return ("405 Method Not Allowed", "This page is read-only.");
        }
        let wanted = format!("/{}/", self.token);
        // In the same time whatever the path is, so that the token cannot be felt out.
        let same = request.path.len() == wanted.len()
            && request.path.bytes().zip(wanted.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0;
        if same { ("200 OK", page) } else { ("404 Not Found", "There is nothing at this address.") }
    }
}

/// A request's head: up to its empty line, to the end of what is sent, or to [`HEAD`] bytes.
fn head(from: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    let mut from = from.take(HEAD);
    loop {
        let got = match from.read(&mut buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            got => got?,
        };
        // The end of the line before may have come with the bytes before.
        let seen = head.len().saturating_sub(3);
        head.extend_from_slice(&buffer[..got]);
        let ends = |end: &[u8]| head[seen..].windows(end.len()).any(|bytes| bytes == end);
        if got == 0 || ends(b"\r\n\r\n") || ends(b"\n\n") {
            return Ok(head);
        }
    }
}

impl<'a> Request<'a> {
    /// What is read of a request, or the status that refuses it.
    fn parse(head: &'a str) -> Result<Request<'a>, &'static str> {
        let mut lines = head.split('\n').map(str::trim_end);
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut request = Request { method, path, ..Request::default() };
        for line in lines {
            if line.is_empty() {
                return Ok(request);
            }
            let Some((name, value)) = line.split_once(':') else { continue };
            if name.eq_ignore_ascii_case("host") {
                request.hosts.push(value.trim());
            } else if name.eq_ignore_ascii_case("origin") {
                request.origins.push(value.trim());
            }
        }
        let all = head.len() as u64 >= HEAD;
        Err(if all { "431 Request Header Fields Too Large" } else { "400 Bad Request" })
    }
}

#[cfg(test)]
mod tests;
