//! Serves one page to browsers of this machine: on 127.0.0.1, at a path that only who was told it knows.
//!
//! Answers GET and HEAD of that one path and nothing else. A request whose `Host` is another name than this address is
//! refused, so that no other site can have a browser read the page. One request at a time is enough for one page.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// A request's head may have so many bytes.
const HEAD: u64 = 16 * 1024;
/// Who sends or takes nothing for so long is let go.
const PATIENCE: Duration = Duration::from_secs(10);

/// A page that is ready to be asked for.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: String,
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

impl Server {
    /// Takes a free port and makes up a token.
    pub fn new() -> Result<Server, Error> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(Error::Random)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Error::Listen)?;
        let address = listener.local_addr().map_err(Error::Listen)?;
        Ok(Server { listener, address, token: URL_SAFE_NO_PAD.encode(random) })
    }

    /// Where the page is. Whoever knows it can read the page.
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.token)
    }

    /// Answers requests for `page` as long as the process lives.
    pub fn run(&self, page: &str) {
        for stream in self.listener.incoming().flatten() {
            // A browser that closed the connection needs no answer.
            let _ = self.answer(&stream, page);
        }
    }

    fn answer(&self, stream: &TcpStream, page: &str) -> std::io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut reader = BufReader::new(stream.take(HEAD));
        let mut request = String::new();
        reader.read_line(&mut request)?;
        let mut host = String::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 || line.trim_end().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("host")
            {
                host = value.trim().to_owned();
            }
        }
        let (status, body) = self.respond(&request, &host, page);
        let mut out = stream;
        let policy = format!("{}; frame-ancestors 'none'", crate::html::policy());
        write!(
            out,
            "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
             Content-Security-Policy: {policy}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
            body.len()
        )?;
        if !request.starts_with("HEAD ") {
            out.write_all(body.as_bytes())?;
        }
        Ok(())
    }

    /// The status and the body for a request line and its `Host`.
    fn respond<'p>(&self, request: &str, host: &str, page: &'p str) -> (&'static str, &'p str) {
        let mut words = request.split_whitespace();
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let port = self.address.port();
        if host != format!("127.0.0.1:{port}") && host != format!("localhost:{port}") {
            return ("403 Forbidden", "This page is for browsers of this machine.");
        }
        if method != "GET" && method != "HEAD" {
            return ("405 Method Not Allowed", "This page can only be read.");
        }
        let wanted = format!("/{}/", self.token);
        // In the same time whatever the path is, so that the token cannot be felt out.
        let same = path.len() == wanted.len()
            && path.bytes().zip(wanted.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0;
        if same { ("200 OK", page) } else { ("404 Not Found", "There is nothing at this address.") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(server: &Server, request: &str) -> String {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (stream, _) = server.listener.accept().unwrap();
                server.answer(&stream, "the page").unwrap();
            });
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        })
    }

    #[test]
    fn who_knows_the_address_gets_the_page() {
        let server = Server::new().unwrap();
        let (token, host) = (&server.token, server.address);
        let answer = asked(&server, &format!("GET /{token}/ HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.contains("Content-Security-Policy: default-src 'none'"));
        assert!(answer.ends_with("\r\n\r\nthe page"));
        let head = asked(&server, &format!("HEAD /{token}/ HTTP/1.1\r\nhost: {host}\r\n\r\n"));
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"));
    }

    #[test]
    fn everyone_else_gets_nothing() {
        let server = Server::new().unwrap();
        let (token, host) = (&server.token, server.address);
        let refused = [
            (format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"), "404"),
            (format!("GET /{}/ HTTP/1.1\r\nHost: {host}\r\n\r\n", "A".repeat(token.len())), "404"),
            (format!("GET /{token}/../ HTTP/1.1\r\nHost: {host}\r\n\r\n"), "404"),
            (format!("POST /{token}/ HTTP/1.1\r\nHost: {host}\r\n\r\n"), "405"),
            (format!("GET /{token}/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "403"),
            (format!("GET /{token}/ HTTP/1.1\r\n\r\n"), "403"),
            ("\u{0}\r\n\r\n".to_owned(), "403"),
        ];
        for (request, status) in refused {
            let answer = asked(&server, &request);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request:?}: {answer}");
            assert!(!answer.contains("the page"));
        }
    }

    #[test]
    fn each_address_is_its_own() {
        let (one, other) = (Server::new().unwrap(), Server::new().unwrap());
        assert_ne!(one.token, other.token);
        assert!(one.token.len() >= 22, "128 bits");
        assert!(one.url().starts_with("http://127.0.0.1:"));
    }
}
