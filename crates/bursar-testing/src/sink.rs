//! A mail server and an SMS provider that behave as a test scripts them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub enum Stage<'a> {
    /// The number of connections before this one.
    Connected(usize),
    Hello,
    Login,
    Recipient(&'a str),
    /// A whole mail, and how many with its Message-ID were accepted before.
    Mail(&'a str, usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    Accept,
    /// Replies with this instead.
    Say(&'static str),
    /// Accepts the mail and closes the connection before it replies.
    TakeAndCut,
    Cut,
    /// Waits so long, then goes on.
    Wait(Duration),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    pub to: Vec<String>,
    pub text: String,
    pub is_reply_lost: bool,
}

impl Mail {
    pub fn header(&self, name: &str) -> Option<String> {
        header(&self.text, name)
    }
}

/// Unfolded.
pub fn header(text: &str, name: &str) -> Option<String> {
    let head = text
        .split("\r\n\r\n")
        .next()?
        .replace("\r\n ", " ")
        .replace("\r\n\t", " ");
    let start = format!("{}:", name.to_ascii_lowercase());
    head.lines()
        .find(|line| line.to_ascii_lowercase().starts_with(&start))
        .map(|line| line[start.len()..].trim().to_owned())
}

type Script = dyn Fn(Stage<'_>) -> Deed + Send + Sync;

pub struct Sink {
    pub address: SocketAddr,
    mails: Arc<Mutex<Vec<Mail>>>,
    connections: Arc<AtomicUsize>,
}

impl Sink {
    pub fn start(script: impl Fn(Stage<'_>) -> Deed + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let sink = Sink {
            address: listener.local_addr().unwrap(),
            mails: Arc::default(),
            connections: Arc::default(),
        };
        let (mails, connections) = (Arc::clone(&sink.mails), Arc::clone(&sink.connections));
        let script: Arc<Script> = Arc::new(script);
        // The thread ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let before = connections.fetch_add(1, Ordering::SeqCst);
                let (script, mails) = (Arc::clone(&script), Arc::clone(&mails));
                std::thread::spawn(move || converse(stream, before, &*script, &mails));
            }
        });
        sink
    }

    /// Accepts everything.
    pub fn kind() -> Self {
        Self::start(|_| Deed::Accept)
    }

    pub fn url(&self) -> String {
        format!("smtp://{}", self.address)
    }

    pub fn mails(&self) -> Vec<Mail> {
        self.mails.lock().unwrap().clone()
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Serves one client until it disconnects. A killed client is not an error.
fn converse(stream: TcpStream, before: usize, script: &Script, mails: &Mutex<Vec<Mail>>) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    let mut to: Vec<String> = Vec::new();
    answer(
        &mut stream,
        script(Stage::Connected(before)),
        "220 sink.example ESMTP",
    )?;
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let word = line.get(..4).unwrap_or_default().to_ascii_uppercase();
        match word.as_str() {
            "EHLO" => answer(
                &mut stream,
                script(Stage::Hello),
                "250-sink.example\r\n250 8BITMIME",
            )?,
            "AUTH" => answer(&mut stream, script(Stage::Login), "235 2.7.0 Ok")?,
            "RCPT" => {
                let address = line.split(['<', '>']).nth(1)?.to_owned();
                let deed = script(Stage::Recipient(&address));
                if deed == Deed::Accept {
                    to.push(address);
                }
                answer(&mut stream, deed, "250 2.1.5 Ok")?;
            }
            "RSET" => {
                to.clear();
                say(&mut stream, "250 2.0.0 Ok")?;
            }
            "DATA" => {
                say(&mut stream, "354 go on")?;
                let text = read_mail(&mut lines)?;
                take(&mut stream, script, mails, std::mem::take(&mut to), text)?;
            }
            "QUIT" => {
                say(&mut stream, "221 2.0.0 Bye")?;
                return None;
            }
            _ => say(&mut stream, "250 2.0.0 Ok")?,
        }
    }
}

fn read_mail(lines: &mut BufReader<TcpStream>) -> Option<String> {
    let mut text = String::new();
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == ".\r\n" {
            return Some(text);
        }
        text.push_str(line.strip_prefix('.').unwrap_or(&line));
    }
}

fn take(
    stream: &mut TcpStream,
    script: &Script,
    mails: &Mutex<Vec<Mail>>,
    to: Vec<String>,
    text: String,
) -> Option<()> {
    let id = header(&text, "Message-ID");
    let before = {
        let mails = mails.lock().unwrap();
        mails
            .iter()
            .filter(|mail| mail.header("Message-ID") == id)
            .count()
    };
    let deed = script(Stage::Mail(&text, before));
    let is_taken = matches!(deed, Deed::Accept | Deed::TakeAndCut | Deed::Wait(_));
    if let Deed::Wait(pause) = deed {
        std::thread::sleep(pause);
    }
    if is_taken {
        // Only after writing the reply is it known whether the client is still there.
        let is_reply_lost = deed == Deed::TakeAndCut;
        let mail = Mail {
            to,
            text,
            is_reply_lost,
        };
        mails.lock().unwrap().push(mail);
    }
    match deed {
        Deed::Accept | Deed::Wait(_) => say(stream, "250 2.0.0 Ok: queued as 4711"),
        Deed::Say(line) => say(stream, line),
        Deed::TakeAndCut | Deed::Cut => None,
    }
}

fn answer(stream: &mut TcpStream, deed: Deed, usual: &str) -> Option<()> {
    match deed {
        Deed::Accept => say(stream, usual),
        Deed::Say(line) => say(stream, line),
        Deed::Wait(pause) => {
            std::thread::sleep(pause);
            say(stream, usual)
        }
        Deed::TakeAndCut | Deed::Cut => None,
    }
}

fn say(stream: &mut TcpStream, line: &str) -> Option<()> {
    stream.write_all(format!("{line}\r\n").as_bytes()).ok()
}

/// First line, headers and body of a request.
#[derive(Clone, Debug)]
pub struct Posted {
    pub line: String,
    pub head: String,
    pub body: String,
}

/// An HTTP server that sends these responses in turn, and the last one forever.
pub struct Provider {
    pub address: SocketAddr,
    posted: Arc<Mutex<Vec<Posted>>>,
}

impl Provider {
    pub fn start(answers: Vec<(u16, &'static str, &'static str)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let provider = Provider {
            address: listener.local_addr().unwrap(),
            posted: Arc::default(),
        };
        let posted = Arc::clone(&provider.posted);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let number = posted.lock().unwrap().len().min(answers.len() - 1);
                serve_one(stream, answers[number], &posted);
            }
        });
        provider
    }

    pub fn posted(&self) -> Vec<Posted> {
        self.posted.lock().unwrap().clone()
    }
}

fn serve_one(
    mut stream: TcpStream,
    (status, headers, body): (u16, &str, &str),
    posted: &Mutex<Vec<Posted>>,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut head = String::new();
    loop {
        let before = head.len();
        reader.read_line(&mut head).ok()?;
        if head[before..].trim().is_empty() {
            break;
        }
    }
    let length = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("content-length:")?
                .trim()
                .parse()
                .ok()
        })
        .unwrap_or(0);
    let mut sent = vec![0; length];
    reader.read_exact(&mut sent).ok()?;
    posted.lock().unwrap().push(Posted {
        line: line.trim().to_owned(),
        head,
        body: String::from_utf8(sent).ok()?,
    });
    let reply = format!(
        "HTTP/1.1 {status} X\r\n{headers}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(reply.as_bytes()).ok()
}
