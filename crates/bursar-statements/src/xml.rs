//! A thin layer over quick-xml, which is small, maintained, MIT licensed, and streams: only one entry of a statement is in
//! memory as a tree. It never reads a DTD and expands no entity, so the attacks that use these end here.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::Problem;
use crate::limits::{DEPTH_MAX, ENTRY_ELEMENTS_MAX, LINE_BYTES_MAX};
use crate::number::quoted;

const ATTRIBUTES_MAX: usize = 50;

/// An element with everything below it. Names are without their namespace prefix.
#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) name: Box<str>,
    pub(crate) text: String,
    pub(crate) line: usize,
    attributes: Vec<(Box<str>, String)>,
    children: Vec<Element>,
}

impl Element {
    fn open(start: &BytesStart<'_>, line: usize) -> Result<Self, Problem> {
        let mut attributes = Vec::new();
        // The check for repeated names takes time in the square of their number.
        for attribute in start.attributes().with_checks(false) {
            if attributes.len() >= ATTRIBUTES_MAX {
                let reason = format!(
                    "an element has more than {ATTRIBUTES_MAX} attributes, which none in a statement has"
                );
                return Err(Problem::at(line, reason));
            }
            let attribute = attribute.map_err(|error| broken(line, &error))?;
            if attribute.value.contains(['&', '<']) {
                let reason = "references in attributes are not allowed; export the file again without them";
                return Err(Problem::at(line, reason));
            }
            attributes.push((attribute.key.as_ref().into(), attribute.value.into_owned()));
        }
        Ok(Self {
            name: start.local_name().as_ref().into(),
            text: String::new(),
            line,
            attributes,
            children: Vec::new(),
        })
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let (_, value) = self.attributes.iter().find(|(key, _)| &**key == name)?;
        Some(value.trim())
    }

    /// The values of the attributes that declare namespaces.
    pub(crate) fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.attributes
            .iter()
            .filter(|(key, _)| key.starts_with("xmlns"))
            .map(|(_, value)| value.as_str())
    }

    /// The children with a name, in order.
    pub(crate) fn all(&self, name: &'static str) -> impl Iterator<Item = &Element> {
        self.children.iter().filter(move |child| &*child.name == name)
    }

    /// The first element at a path of names.
    pub(crate) fn find(&self, path: &[&'static str]) -> Option<&Element> {
        let Some((first, rest)) = path.split_first() else {
            return Some(self);
        };
        self.all(first).find_map(|child| child.find(rest))
    }

    /// The text of the first element at a path, if there is any.
    pub(crate) fn value(&self, path: &[&'static str]) -> Option<&str> {
        let text = self.find(path)?.text.trim();
        (!text.is_empty()).then_some(text)
    }
}

/// What comes next in a document.
pub(crate) enum Step {
    /// An element begins: its name, attributes and line. What is inside comes next.
    Open(Element),
    Close,
    Text(String),
    End,
}

/// Reads a document from its beginning to its end.
pub(crate) struct Document<'a> {
    text: &'a str,
    reader: Reader<&'a [u8]>,
    depth: usize,
    line: usize,
    counted: usize,
    /// An element without content closes in the next step.
    is_closing: bool,
}

impl<'a> Document<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            reader: Reader::from_str(text),
            depth: 0,
            line: 1,
            counted: 0,
            is_closing: false,
        }
    }

    /// The line that was read last.
    pub(crate) fn line(&self) -> usize {
        self.line
    }

    fn count_to(&mut self, place: u64) {
        let place = usize::try_from(place).unwrap_or(usize::MAX).min(self.text.len());
        if let Some(bytes) = self.text.as_bytes().get(self.counted..place) {
            self.line += bytes.iter().filter(|byte| **byte == b'\n').count();
            self.counted = place;
        }
    }

    pub(crate) fn step(&mut self) -> Result<Step, Problem> {
        if std::mem::take(&mut self.is_closing) {
            self.depth -= 1;
            return Ok(Step::Close);
        }
        loop {
            self.count_to(self.reader.buffer_position());
            let event = match self.reader.read_event() {
                Ok(event) => event,
                Err(error) => {
                    self.count_to(self.reader.error_position());
                    return Err(broken(self.line, &error));
                }
            };
            let text = match event {
                Event::Start(start) => return self.open(&start, false),
                Event::Empty(start) => return self.open(&start, true),
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Step::Close);
                }
                Event::Text(text) => text.xml10_content().into_owned(),
                Event::CData(text) => text.xml10_content().into_owned(),
                Event::GeneralRef(reference) => {
                    let character = reference.resolve_char_ref();
                    let character = character.map_err(|error| broken(self.line, &error))?;
                    let character = match (character, &*reference.xml10_content()) {
                        (Some(character), _) => character,
                        (None, "lt") => '<',
                        (None, "gt") => '>',
                        (None, "amp") => '&',
                        (None, "quot") => '"',
                        (None, "apos") => '\'',
                        (None, name) => return Err(self.entity(name)),
                    };
                    character.to_string()
                }
                Event::DocType(_) => {
                    return Err(Problem::at(
                        self.line,
                        "the file has a document type declaration (DTD), which bank statements never have; it is refused for \
                         safety",
                    ));
                }
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => continue,
                Event::Eof if self.depth == 0 => return Ok(Step::End),
                Event::Eof => return Err(Problem::truncated(self.line, "all elements are closed")),
            };
            if text.len() > LINE_BYTES_MAX {
                return Err(self.too_long());
            }
            return Ok(Step::Text(text));
        }
    }

    fn open(&mut self, start: &BytesStart<'_>, is_empty: bool) -> Result<Step, Problem> {
        if self.depth >= DEPTH_MAX {
            return Err(Problem::at(
                self.line,
                format!("elements are nested more than {DEPTH_MAX} deep, which bank statements never are"),
            ));
        }
        self.depth += 1;
        let element = Element::open(start, self.line)?;
        self.is_closing = is_empty;
        Ok(Step::Open(element))
    }

    fn entity(&self, name: &str) -> Problem {
        Problem::at(
            self.line,
            format!(
                "the entity {} is not allowed; only those of XML itself are",
                quoted(name)
            ),
        )
    }

    fn too_long(&self) -> Problem {
        Problem::at(self.line, format!("a text has more than {LINE_BYTES_MAX} bytes"))
    }

    /// Reads what is inside an element that `step` has just opened.
    pub(crate) fn fill(&mut self, element: Element) -> Result<Element, Problem> {
        let mut open = vec![element];
        let mut count = 0;
        loop {
            match self.step()? {
                Step::Open(element) => {
                    count += 1;
                    if count > ENTRY_ELEMENTS_MAX {
                        return Err(Problem::at(
                            self.line,
                            format!(
                                "an entry has more than {ENTRY_ELEMENTS_MAX} elements; export a shorter period"
                            ),
                        ));
                    }
                    open.push(element);
                }
                Step::Text(text) => {
                    if let Some(element) = open.last_mut() {
                        element.text.push_str(&text);
                        if element.text.len() > LINE_BYTES_MAX {
                            return Err(self.too_long());
                        }
                    }
                }
                Step::Close => match (open.pop(), open.last_mut()) {
                    (Some(closed), Some(parent)) => parent.children.push(closed),
                    (Some(closed), None) => return Ok(closed),
                    (None, _) => return Err(Problem::truncated(self.line, "all elements are closed")),
                },
                Step::End => return Err(Problem::truncated(self.line, "all elements are closed")),
            }
        }
    }
}

fn broken(line: usize, error: &dyn std::fmt::Display) -> Problem {
    Problem::at(
        line,
        format!("this is not valid XML ({error}); the file is damaged, download it again"),
    )
}
