//! Words of messages and reports.

use std::fmt::Display;

/// A number with the word for what it counts: `1 sample`, `2 samples`, `0 dispatches`.
pub(crate) fn counted(count: impl Display, one: &str) -> String {
    let count = count.to_string();
    let ending = match () {
        () if count == "1" => "",
        () if one.ends_with("ch") => "es",
        () => "s",
    };
    format!("{count} {one}{ending}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn a_single_thing_is_named_in_the_singular() {
        let words: Vec<_> = [0u64, 1, 2, 11].map(|n| counted(n, "sample")).into();
        assert_eq!(words, ["0 samples", "1 sample", "2 samples", "11 samples"]);
        assert_eq!([counted(1, "dispatch"), counted(3, "dispatch")], ["1 dispatch", "3 dispatches"]);
    }
}
