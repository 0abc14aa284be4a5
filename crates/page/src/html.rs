//! The file: the built page with the data of one recording or two, and a policy that lets it load nothing.

use crate::{Options, Side, data};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

const SCRIPT: &str = include_str!("../../../page/dist/page.js");
const STYLE: &str = include_str!("../../../page/dist/page.css");

/// What the page may do: run its one script and apply its one style. Not even a picture may be loaded.
pub(crate) fn policy() -> String {
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// The whole file. One side is a recording to look at, two are compared, the first being the one before.
///
/// # Errors
///
/// If the data cannot be compressed in memory, or if there is no side or more than two.
pub fn html(sides: &[Side<'_>], options: &Options<'_>) -> std::io::Result<String> {
    let (Some(first), true) = (sides.first(), sides.len() <= 2) else {
        return Err(std::io::Error::other(format!("a page shows one recording or two, not {}", sides.len())));
    };
    let program = first.findings.recording.command.first().map_or("", String::as_str);
    let name = program.rsplit('/').next().unwrap_or_default();
    let title =
        if sides.len() == 2 { format!("{} → {}", first.name, sides[1].name) } else { name.to_owned() };
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{} · slowpath</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <noscript>This page needs JavaScript to show a recording. JavaScript is switched off.</noscript>\n\
         <div id=\"page\"></div>\n",
        policy(),
        escaped(&title)
    );
    for (at, side) in sides.iter().enumerate() {
        let bytes = data::bytes(side, options, at == 0)?;
        html.push_str("<script type=\"application/x-slowpath\">");
        STANDARD.encode_string(bytes, &mut html);
        html.push_str("</script>\n");
    }
    html.push_str(&format!("<script>{SCRIPT}</script>\n</body>\n</html>\n"));
    Ok(html)
}

/// Text in HTML, with what could deceive made visible: the title is the only place that needs this.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in slowpath_report::visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_only_text() {
        let title = escaped("</title><b a=\"1\">&\u{1b}\u{202e}");
        assert_eq!(title, r"&lt;/title&gt;&lt;b a=&quot;1&quot;&gt;&amp;\x1b\u{202e}");
    }

    #[test]
    fn nothing_in_the_built_page_ends_its_own_element() {
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
        assert!(!STYLE.contains("</style"));
    }

    #[test]
    fn the_policy_names_the_hash_of_a_known_text_as_browsers_compute_it() {
        // openssl dgst -sha256 -binary </dev/null | base64
        assert_eq!(hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        assert!(policy().starts_with("default-src 'none'"));
    }
}
