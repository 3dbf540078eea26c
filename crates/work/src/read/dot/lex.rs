//! Words and signs of DOT.

use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token<'a> {
    /// A name, a number, or a text in quotes; `quoted` texts are no keywords.
    Id {
        text: Cow<'a, str>,
        quoted: bool,
    },
    Sign(char),
    /// `->`
    Arrow,
    /// `--`
    Line,
    End,
}

impl Token<'_> {
    /// Whether this is the keyword `word`, in any case.
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self, Token::Id { text, quoted: false } if text.eq_ignore_ascii_case(word))
    }

    /// What a message calls it.
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Id { text, .. } => ground::quoted(text),
            Token::Sign(c) => format!("{c:?}"),
            Token::Arrow => "\"->\"".into(),
            Token::Line => "\"--\"".into(),
            Token::End => "the end of the file".into(),
        }
    }
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// The line, from 1, of the token that came last.
    pub(super) line: usize,
    /// The line that `at` is in.
    here: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Lexer { text, at: 0, line: 1, here: 1 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn pass(&mut self, bytes: usize) -> &'a str {
        let passed = &self.text[self.at..self.at + bytes];
        self.here += passed.bytes().filter(|&b| b == b'\n').count();
        self.at += bytes;
        passed
    }

    /// Passes blanks, `// ..`, `/* .. */` and `# ..`, which Graphviz has at the start of a line alone.
    fn blanks(&mut self) -> Result<(), String> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            if blank > 0 {
                self.pass(blank);
            } else if rest.starts_with("//") || rest.starts_with('#') {
                self.pass(rest.find('\n').unwrap_or(rest.len()));
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let end = comment.find("*/").ok_or("a comment without end")?;
                self.pass(end + 4);
            } else {
                return Ok(());
            }
        }
    }

    pub(super) fn next(&mut self) -> Result<Token<'a>, String> {
        self.blanks()?;
        self.line = self.here;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        if let Some(sign) = rest.get(..2).filter(|s| matches!(*s, "->" | "--")) {
            self.pass(2);
            return Ok(if sign == "->" { Token::Arrow } else { Token::Line });
        }
        match first {
            '{' | '}' | '[' | ']' | ';' | ',' | '=' | ':' => {
                self.pass(1);
                Ok(Token::Sign(first))
            }
            '"' => self.quoted(),
            '<' => self.html(),
            '-' | '.' | '0'..='9' => {
                let text = self.pass(number_length(rest));
                if text.parse::<f64>().is_err() {
                    return Err(format!(
                        "{text:?} is not a number; names that begin like one stand in quotes"
                    ));
                }
                Ok(Token::Id { text: Cow::Borrowed(text), quoted: false })
            }
            c if is_word(c) => {
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                Ok(Token::Id { text: Cow::Borrowed(self.pass(end)), quoted: false })
            }
            c => Err(format!("{c:?} is no sign of DOT; names with other signs stand in quotes")),
        }
    }

    /// `"a" + "b"`: backslash and quote is a quote, backslash and line end nothing, any other backslash stays.
    fn quoted(&mut self) -> Result<Token<'a>, String> {
        let mut text: Cow<'a, str> = self.one_quoted()?;
        loop {
            self.blanks()?;
            if !self.rest().starts_with('+') {
                return Ok(Token::Id { text, quoted: true });
            }
            self.pass(1);
            self.blanks()?;
            if !self.rest().starts_with('"') {
                return Err("a text in quotes expected after \"+\"".into());
            }
            text.to_mut().push_str(&self.one_quoted()?);
        }
    }

    fn one_quoted(&mut self) -> Result<Cow<'a, str>, String> {
        self.pass(1);
        let rest = self.rest();
        let mut escaped = false;
        let mut has_escapes = false;
        for (at, b) in rest.bytes().enumerate() {
            match b {
                _ if escaped => escaped = false,
                b'\\' => (escaped, has_escapes) = (true, true),
                b'"' => {
                    let text = self.pass(at);
                    self.pass(1);
                    return Ok(if has_escapes {
                        Cow::Owned(text.replace("\\\"", "\"").replace("\\\n", ""))
                    } else {
                        Cow::Borrowed(text)
                    });
                }
                _ => {}
            }
        }
        Err("a text without end".into())
    }

    /// `<b>bold</b>` in balanced brackets: a label; it is kept as it stands.
    fn html(&mut self) -> Result<Token<'a>, String> {
        let rest = self.rest();
        let mut depth = 0usize;
        for (at, b) in rest.bytes().enumerate() {
            match b {
                b'<' => depth += 1,
                b'>' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let text = self.pass(at + 1);
                return Ok(Token::Id { text: Cow::Borrowed(text), quoted: true });
            }
        }
        Err("a text in <> without end".into())
    }
}

/// Digits, dots and letters, and the sign of an exponent: more than DOT allows (`1e-3`), so that nothing is misread in
/// two.
fn number_length(text: &str) -> usize {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let exponent = matches!(c, '-' | '+') && matches!(before, 'e' | 'E');
        if at > 0 && !(is_word(c) || c == '.' || exponent) {
            return at;
        }
        before = c;
    }
    text.len()
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii()
}
