//! Lists that people write in TOML, as JSON for the front.

/// The TOML document `text` as JSON.
///
/// # Errors
/// Where `text` is not TOML: the line, and what is wrong there.
///
/// ```
/// let json = cellweave::reproduce::lists::as_json("[[group]]\nid = \"a\"").unwrap();
/// assert_eq!(json, r#"{"group":[{"id":"a"}]}"#);
/// assert!(cellweave::reproduce::lists::as_json("id = ").is_err());
/// ```
pub fn as_json(text: &str) -> Result<String, String> {
    let document: serde_json::Value = toml::from_str(text).map_err(|e| e.to_string())?;
    Ok(document.to_string())
}
