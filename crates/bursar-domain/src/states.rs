//! Closed sets of words for states, and the moves between states.

/// Declares an enum of words with their text form.
#[macro_export]
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[doc = $about:literal])* $variant:ident $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[doc = $about])* $variant),* }

        impl $name {
            /// In the order of the OpenAPI document.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];
            /// As messages list them.
            pub const WORDS: &'static str = $crate::list_words!($($text),*);

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }
        }

        impl $crate::states::Word for $name {
            const TEXTS: &'static [&'static str] = &[$($text),*];
            const FIRST: Self = Self::ALL[0];

            fn as_str(self) -> &'static str {
                self.as_str()
            }

            fn parse(text: &str) -> Option<Self> {
                Self::parse(text)
            }

            fn about(self) -> &'static str {
                match self { $(Self::$variant => concat!($($about),*).trim_ascii()),* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

/// Joins literals with commas at compile time.
#[macro_export]
#[doc(hidden)]
macro_rules! list_words {
    ($first:literal $(, $rest:literal)*) => { concat!($first $(, ", ", $rest)*) };
}

pub trait Word: Copy + serde::Serialize + 'static {
    /// In the order of the OpenAPI document.
    const TEXTS: &'static [&'static str];
    /// A new resource starts with it.
    const FIRST: Self;

    fn as_str(self) -> &'static str;
    fn parse(text: &str) -> Option<Self>;
    /// The comment on its declaration: what it means, in a sentence.
    fn about(self) -> &'static str;
}

pub trait Machine: Copy + PartialEq + std::fmt::Display + 'static {
    /// For messages.
    const NOUN: &'static str;

    /// The states that may follow.
    fn moves(self) -> &'static [Self];

    /// The error names the state and the moves it allows.
    fn to(self, next: Self) -> Result<Self, crate::Refusal> {
        if self.moves().contains(&next) {
            return Ok(next);
        }
        let allowed: Vec<String> = self.moves().iter().map(ToString::to_string).collect();
        let way_out = match allowed.as_slice() {
            [] => "nothing more can happen to it".to_owned(),
            _ => format!("it can become {}", allowed.join(", ")),
        };
        Err(crate::Refusal::conflict(format!(
            "the {} is {self} and cannot become {next}; {way_out}",
            Self::NOUN
        )))
    }
}

/// What an officer does to a resource. It is displayed as a participle ("unfrozen"). Two verbs can lead to
/// the same state, as `activate` and `unfreeze` do for a card, so a verb also names the states it starts
/// from.
pub trait Verb: Copy + std::fmt::Display + 'static {
    type State: Machine;

    fn starts_from(self) -> &'static [Self::State];

    fn leads_to(self) -> Self::State;

    /// The error names the state and where the verb starts from.
    fn after(self, state: Self::State) -> Result<Self::State, crate::Refusal> {
        let next = state.to(self.leads_to())?;
        if self.starts_from().contains(&state) {
            return Ok(next);
        }
        let starts: Vec<String> = self.starts_from().iter().map(ToString::to_string).collect();
        let noun = Self::State::NOUN;
        Err(crate::Refusal::conflict(format!(
            "the {noun} is {state}; only a {noun} that is {} can be {self}",
            starts.join(" or ")
        )))
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Machine, Verb};

    /// Checks verbs against a table with one line per verb: `"unfrozen: frozen → active"`. Every other start
    /// must be refused with the state in the message.
    pub(crate) fn assert_verbs<V: Verb>(verbs: &[V], states: &[V::State], table: &[&str]) {
        assert_eq!(verbs.len(), table.len());
        for (verb, line) in verbs.iter().zip(table) {
            let (name, moves) = line.split_once(": ").unwrap();
            let (starts, next) = moves.split_once(" → ").unwrap();
            assert_eq!(verb.to_string(), name);
            let starts: Vec<&str> = starts.split(", ").collect();
            for state in states {
                match verb.after(*state) {
                    Ok(after) => {
                        assert!(
                            starts.contains(&state.to_string().as_str()),
                            "{name} from {state}"
                        );
                        assert_eq!(after.to_string(), next, "{name} from {state}");
                    }
                    Err(refusal) => {
                        assert!(
                            !starts.contains(&state.to_string().as_str()),
                            "{name} from {state}"
                        );
                        let told = refusal.message();
                        assert!(told.contains(&format!("is {state}")), "{told}");
                    }
                }
            }
        }
    }

    /// Checks a machine against a table with one line per state, as in the contract: `"a → b, c"`.
    pub(crate) fn assert_table<M: Machine + std::fmt::Debug>(all: &[M], table: &[&str]) {
        for from in all {
            let line = table
                .iter()
                .find(|line| line.split('→').next().unwrap().trim() == from.to_string());
            let allowed: Vec<&str> = line.map_or(vec![], |l| {
                l.split('→').nth(1).unwrap().split(',').map(str::trim).collect()
            });
            for to in all {
                let expected = allowed.contains(&to.to_string().as_str());
                assert_eq!(from.to(*to).is_ok(), expected, "{from} → {to}");
                if let Err(refusal) = from.to(*to) {
                    assert!(
                        refusal.message().contains(&from.to_string())
                            && refusal.message().contains(&to.to_string())
                    );
                }
            }
        }
        assert!(
            table
                .iter()
                .all(|l| all.iter().any(|s| l.starts_with(&s.to_string()))),
            "the table names a foreign state"
        );
    }
}
