//! Sends the prices of a day from a server to some subscribers, over an HTTP/2 stream for each, a message for each second.
//! Usage: program FILE. Each line is a message.

use std::env;
use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

type Failed = Box<dyn Error + Send + Sync>;
const SUBSCRIBERS: usize = 6;
const WINDOW: u32 = 4 * 1024 * 1024;

/// A connection that counts what comes in.
struct Metered {
    stream: TcpStream,
    received: Arc<AtomicU64>,
}

impl AsyncRead for Metered {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.received.fetch_add((buffer.filled().len() - before) as u64, Ordering::Relaxed);
        result
    }
}

impl AsyncWrite for Metered {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

async fn push(mut answer: h2::server::SendResponse<Bytes>, messages: Arc<Vec<Bytes>>) -> Result<(), Failed> {
    let mut stream = answer.send_response(Response::new(()), false)?;
    for message in messages.iter() {
        stream.reserve_capacity(message.len());
        while stream.capacity() < message.len() {
            match std::future::poll_fn(|context| stream.poll_capacity(context)).await {
                Some(capacity) => capacity?,
                None => return Ok(()),
            };
        }
        stream.send_data(message.clone(), false)?;
    }
    stream.send_data(Bytes::new(), true)?;
    Ok(())
}

async fn serve(listener: TcpListener, messages: Arc<Vec<Bytes>>) -> Result<(), Failed> {
    let (stream, _) = listener.accept().await?;
    stream.set_nodelay(true)?;
    let metered = Metered { stream, received: Arc::default() };
    let mut connection = h2::server::handshake(metered).await?;
    while let Some(request) = connection.accept().await {
        let (_, answer) = request?;
        tokio::spawn(push(answer, messages.clone()));
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failed> {
    let path = env::args().nth(1).ok_or("usage: program FILE")?;
    let text = Bytes::from(std::fs::read(path)?);
    let messages: Vec<Bytes> = text.split_inclusive(|&byte| byte == b'\n').map(|line| text.slice_ref(line)).collect();
    let count = messages.len();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(serve(listener, Arc::new(messages)));

    let received = Arc::<AtomicU64>::default();
    let metered = Metered { stream: TcpStream::connect(address).await?, received: received.clone() };
    let (client, connection) =
        h2::client::Builder::new().initial_window_size(WINDOW).initial_connection_window_size(WINDOW).handshake::<_, Bytes>(metered).await?;
    tokio::spawn(connection);
    let mut client = client.ready().await?;
    for subscriber in 1..=SUBSCRIBERS {
        let (answer, _) = client.send_request(Request::builder().uri("http://prices.example/today").body(())?, true)?;
        let mut body = answer.await?.into_body();
        let (mut bytes, mut sum) = (0, 0u64);
        while let Some(part) = body.data().await {
            let part = part?;
            body.flow_control().release_capacity(part.len())?;
            bytes += part.len();
            sum += part.iter().map(|&byte| u64::from(byte)).sum::<u64>();
        }
        println!("subscriber {subscriber}: {count} messages, {bytes} bytes, sum of all {sum}");
        client = client.ready().await?;
    }
    println!("{} bytes on the connection", received.load(Ordering::Relaxed) / 100_000 * 100_000);
    Ok(())
}
