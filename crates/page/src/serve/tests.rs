//! The server from outside: over connections to it.

use super::*;
use std::net::TcpStream;

/// Limits that no busy machine reaches by itself; a test shortens the one that it is about.
const LONG: Limits = Limits {
    connections: 32,
    head: Duration::from_secs(600),
    answer: Duration::from_secs(600),
    patience: Duration::from_secs(600),
};
const SHORT: Duration = Duration::from_millis(300);

/// A server of `page` that runs until the tests end.
fn running(limits: Limits, page: String) -> &'static Server {
    let server: &'static Server = Box::leak(Box::new(Server::with(limits).unwrap()));
    std::thread::Builder::new().spawn(move || server.run(&page)).unwrap();
    server
}

fn connected(server: &Server) -> TcpStream {
    TcpStream::connect(server.address).unwrap()
}

fn asked(server: &Server, request: &[u8]) -> String {
    let mut stream = connected(server);
    stream.write_all(request).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn right(server: &Server) -> String {
    format!("GET /{}/ HTTP/1.1\r\nHost: {}\r\n\r\n", server.token, server.address)
}

#[test]
fn who_knows_the_address_gets_the_page() {
    let server = running(LONG, "the page".to_owned());
    let (token, host) = (&server.token, server.address);
    let answer = asked(server, right(server).as_bytes());
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("Content-Security-Policy: default-src 'none'"));
    assert!(answer.ends_with("\r\n\r\nthe page"));
    let head = asked(server, format!("HEAD /{token}/ HTTP/1.1\r\nhost: {host}\r\n\r\n").as_bytes());
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"));
    let own = format!("GET /{token}/ HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n\r\n");
    assert!(asked(server, own.as_bytes()).ends_with("the page"));
}

#[test]
fn everyone_else_gets_nothing() {
    let server = running(LONG, "the page".to_owned());
    let (token, host) = (&server.token, server.address);
    let get = format!("GET /{token}/ HTTP/1.1\r\nHost: {host}\r\n");
    let refused = [
        (format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"), "404"),
        (format!("GET /{}/ HTTP/1.1\r\nHost: {host}\r\n\r\n", "A".repeat(token.len())), "404"),
        (format!("GET /{token}/../ HTTP/1.1\r\nHost: {host}\r\n\r\n"), "404"),
        (format!("POST /{token}/ HTTP/1.1\r\nHost: {host}\r\n\r\n"), "405"),
        (format!("GET /{token}/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "403"),
        (format!("GET /{token}/ HTTP/1.1\r\n\r\n"), "403"),
        (format!("{get}Host: evil.example\r\n\r\n"), "403"),
        (format!("{get}Origin: http://evil.example\r\n\r\n"), "403"),
        (format!("{get}Origin: https://{host}\r\n\r\n"), "403"),
        (format!("{get}origin: null\r\n\r\n"), "403"),
        (format!("{get}Origin:\r\n\r\n"), "403"),
        (format!("{get}X: {}\r\n\r\n", "x".repeat(HEAD as usize)), "431"),
        ("\u{0}\r\n\r\n".to_owned(), "403"),
    ];
    for (request, status) in refused {
        let answer = asked(server, request.as_bytes());
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request:?}: {answer}");
        assert!(!answer.contains("the page"));
    }
}

#[test]
fn half_a_request_is_not_answered_with_the_page() {
    let server = running(LONG, "the page".to_owned());
    let mut stream = connected(server);
    stream.write_all(right(server).trim_end().as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
}

#[test]
fn each_address_is_its_own() {
    let (one, other) = (Server::new().unwrap(), Server::new().unwrap());
    assert_ne!(one.token, other.token);
    assert!(one.token.len() >= 22, "128 bits");
    assert!(one.url().starts_with("http://127.0.0.1:"));
}

#[test]
fn a_hundred_connections_that_ask_for_nothing_keep_nobody_waiting() {
    let server = running(LONG, "the page".to_owned());
    let mut idle: Vec<TcpStream> = (0..100).map(|_| connected(server)).collect();
    for stream in idle.iter_mut().step_by(2) {
        // Those that were let go already refuse it.
        let _ = stream.write_all(b"GET ");
    }
    assert!(asked(server, right(server).as_bytes()).ends_with("the page"));
    // All but the last 32 are gone, the earliest first; the one that was answered made one more of them go.
    let mut buffer = [0; 1];
    for stream in &mut idle[..68] {
        assert!(matches!(stream.read(&mut buffer), Ok(0) | Err(_)));
    }
    drop(idle);
    assert!(asked(server, right(server).as_bytes()).ends_with("the page"));
}

#[test]
fn who_is_being_given_the_page_is_not_made_to_go() {
    // More than the kernel keeps for a connection, so that the answer lasts until it is read.
    let page = "x".repeat(64 << 20);
    let size = page.len();
    let server = running(Limits { connections: 2, ..LONG }, page);
    let mut readers: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut stream = connected(server);
            stream.write_all(right(server).as_bytes()).unwrap();
            let mut first = [0; 15];
            stream.read_exact(&mut first).unwrap();
            assert_eq!(&first, b"HTTP/1.1 200 OK");
            stream
        })
        .collect();
    // Nobody else fits in.
    assert!(matches!(connected(server).read(&mut [0; 1]), Ok(0) | Err(_)));
    for stream in &mut readers {
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        assert!(rest.len() > size);
    }
}

#[test]
fn a_request_that_comes_byte_by_byte_is_given_up() {
    let server = running(Limits { head: SHORT, ..LONG }, "the page".to_owned());
    let mut stream = connected(server);
    stream.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    // By the limit of bytes alone it would go on for 80 s.
    let given_up = (0..10_000).any(|_| {
        let written = stream.write_all(b"x");
        let read = stream.read(&mut [0; 1]);
        written.is_err() || matches!(read, Ok(0)) || read.is_err_and(|error| !is_timeout(&error))
    });
    assert!(given_up);
    assert!(asked(server, right(server).as_bytes()).ends_with("the page"));
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}

#[test]
fn who_takes_nothing_of_the_answer_is_let_go_and_so_is_who_takes_it_bit_by_bit() {
    let page = "x".repeat(64 << 20);
    let limits = [
        Limits { connections: 1, patience: SHORT, ..LONG },
        Limits { connections: 1, answer: SHORT, ..LONG },
    ];
    for limits in limits {
        let server = running(limits, page.clone());
        let mut slow = connected(server);
        slow.write_all(right(server).as_bytes()).unwrap();
        let mut first = [0; 15];
        slow.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200 OK");
        // There is room for one: others get in only when that one is gone.
        loop {
            let mut other = connected(server);
            let head = format!("HEAD /{}/ HTTP/1.1\r\nHost: {}\r\n\r\n", server.token, server.address);
            let _ = other.write_all(head.as_bytes());
            let mut answer = String::new();
            if other.read_to_string(&mut answer).is_ok() && answer.starts_with("HTTP/1.1 200 OK") {
                break;
            }
            if limits.answer == SHORT {
                slow.read_exact(&mut [0; 1]).unwrap();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut rest = Vec::new();
        let _ = slow.read_to_end(&mut rest);
        assert!(rest.len() < page.len());
    }
}
