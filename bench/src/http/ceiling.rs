//! The ceiling: the same HTTP stack answers the same bytes with the same headers and log line, and does no work.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bursar_domain::ids::{OrganizationId, RequestId, TokenId};
use bursar_http::listen::{self, Panicked, Service};
use bursar_http::request_log::{RequestLine, RequestLog};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};
use tokio::net::TcpListener;

use super::client::head;
use crate::{Args, Outcome, database};

/// The one answer.
pub(crate) struct Ceiling {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Ceiling {
    pub(crate) fn open(file: &str) -> Outcome<Self> {
        Self::read(&std::fs::read(file).map_err(|error| format!("{file}: {error}"))?)
    }

    /// Reads an answer as it was on the wire.
    fn read(bytes: &[u8]) -> Outcome<Self> {
        let (status, whole) = head(bytes)?.ok_or("half an answer")?;
        let text = std::str::from_utf8(&bytes[..whole]).map_err(|error| error.to_string())?;
        let (head, body) = text.split_once("\r\n\r\n").ok_or("no head")?;
        let mut headers = HeaderMap::new();
        for line in head.lines().skip(1) {
            let (name, value) = line.split_once(':').ok_or("no header")?;
            // The stack writes these two itself.
            if matches!(name, "date" | "content-length") {
                continue;
            }
            let name = HeaderName::try_from(name).map_err(|error| error.to_string())?;
            let value = HeaderValue::try_from(value.trim()).map_err(|error| error.to_string())?;
            headers.insert(name, value);
        }
        Ok(Self {
            status: StatusCode::from_u16(status).map_err(|error| error.to_string())?,
            headers,
            body: Bytes::copy_from_slice(body.as_bytes()),
        })
    }

    fn reply(&self) -> Response<Full<Bytes>> {
        let mut reply = Response::new(Full::new(self.body.clone()));
        *reply.status_mut() = self.status;
        *reply.headers_mut() = self.headers.clone();
        reply
    }
}

impl Service for Ceiling {
    type Body = Full<Bytes>;

    async fn call(
        self: &Arc<Self>,
        mut request: Request<Incoming>,
        _peer: SocketAddr,
    ) -> Response<Full<Bytes>> {
        while let Some(Ok(_)) = request.body_mut().frame().await {}
        log_line(request.method().as_str(), self.status.as_u16());
        self.reply()
    }

    fn on_panic(&self, _panicked: Panicked) -> Response<Full<Bytes>> {
        self.reply()
    }
}

/// A line as bursar writes it.
fn log_line(method: &str, status: u16) {
    RequestLog::Text.write(&RequestLine {
        at: &database::now(),
        request_id: &RequestId::from_bytes([1; 16]),
        method,
        route: "/v1/members/{memberId}",
        status,
        took: Duration::from_micros(27),
        organization: Some(&OrganizationId::from_bytes([2; 16])),
        token: Some(&TokenId::from_bytes([3; 16])),
    });
}

/// `bench ceiling`, which `bench http` starts.
pub(crate) fn serve(args: &Args) -> Outcome {
    let file = args.text("answer").ok_or("--answer is required")?;
    let ceiling = Arc::new(Ceiling::open(file)?);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .map_err(|error| error.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
            .map_err(|error| error.to_string())?;
        // Only now: whoever reads it may want it to end at once.
        println!("listening on http://{address}");
        let told = async move {
            terminate.recv().await;
        };
        listen::serve(
            listener,
            ceiling,
            listen::Options::default(),
            told,
            std::future::ready(()),
        )
        .await;
        Ok(())
    })
}
