//! Forms with files: `multipart/form-data`, bounded.

use http_body_util::{BodyDataStream, BodyExt};
use hyper::HeaderMap;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use multer::{Constraints, Error, Multipart, SizeLimit};

use super::{BROKEN, BadBody, check_type};

const MULTIPART: (&str, BadBody) = (
    "multipart/form-data",
    BadBody::OtherType("a form with files must be sent as multipart/form-data"),
);
/// Fields and files of one form.
const PARTS_MAX: usize = 1_000;
/// What is read and dropped of an upload that is too large: a browser shows the response only after it has sent all.
const DROPPED_BYTES_MAX: u64 = 256 << 20;

/// A file of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormFile {
    /// The name of the field.
    pub field: String,
    /// The name of the file, without folders.
    pub name: String,
    pub bytes: Bytes,
}

/// What a form with files had, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormParts {
    pub fields: Vec<(String, String)>,
    pub files: Vec<FormFile>,
}

/// Whether the headers say that the form has files.
pub fn is_multipart(headers: &HeaderMap) -> bool {
    let starts = |value: &HeaderValue| {
        let value = value.as_bytes();
        value.len() >= 10 && value[..10].eq_ignore_ascii_case(b"multipart/")
    };
    headers.get_all(CONTENT_TYPE).iter().any(starts)
}

/// Reads a form with files. What was read before a problem stays in `parts`. A file field that was left empty is no file.
pub async fn read_parts(
    body: &mut Incoming,
    headers: &HeaderMap,
    limit: usize,
    parts: &mut FormParts,
) -> Result<(), BadBody> {
    check_type(headers, MULTIPART)?;
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let boundary = multer::parse_boundary(content_type.unwrap_or(""))
        .map_err(|_| BadBody::Broken("the form has no boundary in its Content-Type"))?;
    let read = read_all(body, boundary, limit, parts).await;
    if read == Err(BadBody::TooLarge(limit)) {
        drop_rest(body).await;
    }
    read
}

async fn read_all(
    body: &mut Incoming,
    boundary: String,
    limit: usize,
    parts: &mut FormParts,
) -> Result<(), BadBody> {
    let bad = |error: Error| match error {
        Error::StreamSizeExceeded { .. } | Error::FieldSizeExceeded { .. } => BadBody::TooLarge(limit),
        _ => BROKEN,
    };
    let sizes = SizeLimit::new().whole_stream(limit as u64);
    let constraints = Constraints::new().size_limit(sizes);
    let mut given = Multipart::with_constraints(BodyDataStream::new(body), boundary, constraints);
    let mut count = 0;
    while let Some(part) = given.next_field().await.map_err(bad)? {
        count += 1;
        if count > PARTS_MAX {
            return Err(BadBody::Broken("the form has more than 1000 parts"));
        }
        let Some(field) = part.name().map(str::to_owned) else {
            return Err(BadBody::Broken("a part of the form has no name"));
        };
        let file = part.file_name().map(last_part);
        let bytes = part.bytes().await.map_err(bad)?;
        match file {
            None => {
                let text = String::from_utf8(bytes.to_vec());
                let text = text.map_err(|_| BadBody::Broken("a field of the form is not UTF-8"))?;
                parts.fields.push((field, text));
            }
            Some(name) if name.is_empty() && bytes.is_empty() => {}
            Some(name) => {
                if parts
                    .files
                    .iter()
                    .any(|file| file.field == field && file.name == name)
                {
                    return Err(BadBody::Broken(
                        "two files have the same name; rename one of them",
                    ));
                }
                parts.files.push(FormFile { field, name, bytes });
            }
        }
    }
    Ok(())
}

/// Some browsers send the folders too.
fn last_part(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or("");
    last.chars().filter(|c| !c.is_control()).collect()
}

async fn drop_rest(body: &mut Incoming) {
    let mut total: u64 = 0;
    while let Some(Ok(frame)) = body.frame().await
        && total <= DROPPED_BYTES_MAX
    {
        total += frame.data_ref().map_or(0, |data| data.len() as u64);
    }
}
