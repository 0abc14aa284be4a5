//! Sends the quotes of a trading day to a subscriber over a websocket, which keeps the last price of each paper. Usage: program QUOTES

use std::collections::{BTreeMap, HashMap};
use std::error::Error;

use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;

type Failure = Box<dyn Error + Send + Sync>;

/// The quotes of one second go out together.
async fn publish(listener: TcpListener, path: String) -> Result<(), Failure> {
    let (stream, _) = listener.accept().await?;
    let mut subscriber = tokio_tungstenite::accept_async(stream).await?;
    let quotes = tokio::fs::read_to_string(path).await?;
    let mut second = "";
    for line in quotes.lines() {
        let (time, quote) = line.split_once('\t').ok_or("a line has a tab")?;
        if time != second {
            subscriber.flush().await?;
            second = time;
        }
        subscriber.feed(Message::Text(quote.into())).await?;
    }
    subscriber.close(None).await?;
    Ok(())
}

#[derive(Default)]
struct Paper {
    quotes: u32,
    last: u32,
    highest: u32,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let path = std::env::args().nth(1).ok_or("usage: program QUOTES")?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let publisher = tokio::spawn(publish(listener, path));
    let stream = TcpStream::connect(address).await?;
    let (mut quotes, _) = tokio_tungstenite::client_async(format!("ws://{address}/quotes"), stream).await?;
    let mut papers: HashMap<String, Paper> = HashMap::new();
    while let Some(message) = quotes.next().await {
        if let Message::Text(quote) = message? {
            let (name, price) = quote.split_once(' ').ok_or("a quote has a name and a price")?;
            if !papers.contains_key(name) {
                papers.insert(name.to_owned(), Paper::default());
            }
            if let Some(paper) = papers.get_mut(name) {
                paper.quotes += 1;
                paper.last = price.parse()?;
                paper.highest = paper.highest.max(paper.last);
            }
        }
    }
    publisher.await??;
    for (name, paper) in papers.into_iter().collect::<BTreeMap<_, _>>() {
        println!("{name}: {} quotes, last {} cents, highest {} cents", paper.quotes, paper.last, paper.highest);
    }
    Ok(())
}
