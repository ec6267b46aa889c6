//! Closed sets of words. Must not grow rules about moving between them: those live in `model`.

/// A word that is not in the closed set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// The word that was read.
    pub word: String,
    /// The words that would have been accepted.
    pub accepted: &'static [&'static str],
}

impl std::fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "unknown word {:?}, use one of: {}",
            self.word,
            self.accepted.join(", ")
        )
    }
}

impl std::error::Error for UnknownWord {}

/// Declares an enum whose variants are written as fixed words; the first one is the default.
macro_rules! closed_enum {
    ($(#[$meta:meta])* $name:ident { $first:ident = $first_word:literal, $($variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize,
        )]
        pub enum $name {
            #[doc = concat!("`", $first_word, "`")]
            #[default]
            #[serde(rename = $first_word)]
            $first,
            $(
                #[doc = concat!("`", $word, "`")]
                #[serde(rename = $word)]
                $variant,
            )*
        }

        impl $name {
            /// All words, in the order of declaration.
            pub const ALL: &'static [Self] = &[Self::$first, $(Self::$variant),*];
            const WORDS: &'static [&'static str] = &[$first_word, $($word),*];

            /// The word as the API writes it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    Self::$first => $first_word,
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $first_word => Ok(Self::$first),
                    $($word => Ok(Self::$variant),)*
                    _ => Err($crate::UnknownWord { word: word.to_owned(), accepted: Self::WORDS }),
                }
            }
        }
    };
}
pub(crate) use closed_enum;
