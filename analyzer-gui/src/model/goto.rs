//! `--goto`: the text that names a dispatch and a sample.

use std::{fmt, str::FromStr};

/// A dispatch by name or number, and a sample in it.
///
/// ```
/// use analyzer_gui::model::goto::{DispatchRef, Goto};
/// let goto: Goto = "ties:3,4,0".parse().unwrap();
/// assert_eq!(goto, Goto { dispatch: DispatchRef::Name("ties".to_owned()), sample: Some([3, 4, 0]) });
/// assert_eq!(goto.to_string(), "ties:3,4,0");
/// assert_eq!("#2".parse::<Goto>().unwrap().dispatch, DispatchRef::Number(2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goto {
    /// The dispatch.
    pub dispatch: DispatchRef,
    /// The sample, x, y, z.
    pub sample: Option<[u32; 3]>,
}

/// How a dispatch is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DispatchRef {
    /// By name: the first dispatch of that name in the open traces.
    Name(String),
    /// `#N`: by its place in its trace, from 0.
    Number(usize),
}

/// The text names no place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} names no place, expected DISPATCH or DISPATCH:X,Y,Z, where DISPATCH is a name or #NUMBER ({problem})"
)]
pub struct GotoError {
    text: String,
    problem: &'static str,
}

impl FromStr for Goto {
    type Err = GotoError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = |problem| GotoError { text: text.to_owned(), problem };
        // Names may hold colons; a sample is digits and commas only.
        let is_sample = |t: &&str| !t.is_empty() && t.chars().all(|c| c.is_ascii_digit() || c == ',' || c == ' ');
        let (name, sample) = match text.rsplit_once(':') {
            Some((name, at)) if is_sample(&at) => {
                (name, Some(parse_sample(at).ok_or_else(|| fail("not a sample within 32 bits"))?))
            }
            Some((_, "")) => return Err(fail("nothing stands behind the colon")),
            _ => (text, None),
        };
        let dispatch = match name.strip_prefix('#') {
            Some(number) => DispatchRef::Number(number.parse().map_err(|_| fail("no number stands behind #"))?),
            None if name.is_empty() => return Err(fail("the dispatch is missing")),
            None => DispatchRef::Name(name.to_owned()),
        };
        Ok(Self { dispatch, sample })
    }
}

/// A sample as `x`, `x,y` or `x,y,z`; what is left out is 0.
#[must_use]
pub fn parse_sample(text: &str) -> Option<[u32; 3]> {
    let mut at = [0; 3];
    for (n, part) in text.split(',').enumerate() {
        *at.get_mut(n)? = part.trim().parse().ok()?;
    }
    Some(at)
}

impl fmt::Display for Goto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.dispatch {
            DispatchRef::Name(name) => f.write_str(name)?,
            DispatchRef::Number(number) => write!(f, "#{number}")?,
        }
        match self.sample {
            Some([x, y, z]) => write!(f, ":{x},{y},{z}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_parse() {
        let parse = |t: &str| t.parse::<Goto>();
        assert_eq!(parse("a:1").unwrap().sample, Some([1, 0, 0]));
        assert_eq!(parse("a: 1, 2").unwrap().sample, Some([1, 2, 0]));
        assert_eq!(
            parse("a:b:1,2,3").unwrap(),
            Goto { dispatch: DispatchRef::Name("a:b".to_owned()), sample: Some([1, 2, 3]) }
        );
        assert_eq!(parse("a:b").unwrap(), Goto { dispatch: DispatchRef::Name("a:b".to_owned()), sample: None });
        for bad in ["", "a:", ":1,2,3", "#x", "a:1,2,3,4", "a:4294967296", "a:,"] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
