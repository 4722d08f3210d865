//! The errors page: each code, its cause and what to do. An error's `docsUrl` links to its heading.

use std::fmt::Write as _;

use bursar_domain::text::html_escaped;

use super::html::{Frame, inline};
use crate::openapi::{CODES, title};

pub(super) fn render() -> String {
    let mut aside = String::from("<p class=\"aside-title\">Codes</p>\n<ul>\n");
    let mut main = String::from(INTRODUCTION);
    let mut status = 0;
    for doc in CODES {
        let _ = writeln!(
            aside,
            "<li><a href=\"#{0}\"><code>{0}</code></a></li>",
            html_escaped(doc.code)
        );
        if doc.status != status {
            if status != 0 {
                main.push_str("</section>\n");
            }
            status = doc.status;
            let _ = writeln!(
                main,
                "<section aria-labelledby=\"s{status}\">\n<h2 id=\"s{status}\">{status}: {}</h2>",
                title(status)
            );
        }
        let _ = writeln!(
            main,
            "<article class=\"entry\" aria-labelledby=\"{code}\">\n<h3 id=\"{code}\"><a href=\"#{code}\"><code>{code}</code></a></h3>\n\
             <dl class=\"why\">\n<dt>Why</dt><dd>{}</dd>\n<dt>What to do</dt><dd>{}</dd>\n</dl>\n</article>",
            inline(doc.why),
            inline(doc.what_to_do),
            code = html_escaped(doc.code),
        );
    }
    main.push_str("</section>\n");
    aside.push_str("</ul>\n");
    Frame {
        title: "Errors",
        path: "/docs/errors",
        aside: &aside,
        main: &main,
    }
    .render()
}

const INTRODUCTION: &str = "<h1>Errors</h1>
<p class=\"lead\">Every error has the same body. Programs read <code>code</code>, people read <code>message</code>.</p>
<figure class=\"code\"><figcaption>An error</figcaption><pre><code>{
  \"error\": {
    \"code\": \"invalid_request\",
    \"message\": \"limit must be an integer from 1 to 100\",
    \"requestId\": \"req_01k9ajhv2078jbdbaehyv0rw9e\",
    \"docsUrl\": \"…/docs/errors#invalid_request\",
    \"param\": \"limit\"
  }
}</code></pre></figure>
<ul>
<li><code>param</code> names the field, parameter or header at fault, when one is.</li>
<li><code>requiredScopes</code> comes with <code>insufficient_scope</code> and lists all that the endpoint needs.</li>
<li><code>requestId</code> is in the <code>X-Request-Id</code> header too. Tell it to the operator when you ask for help.</li>
<li>An error wrote nothing, with one exception: after a 500, a 503 or a broken connection you cannot know. Retry such a
write with the same <code>Idempotency-Key</code>.</li>
<li>v1 may add codes. Treat one that you do not know by its status.</li>
</ul>
";
