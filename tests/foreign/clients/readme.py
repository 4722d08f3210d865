"""Makes a program of the samples in a client's README, which runs as it is read: from top to bottom.

`readme.py LANGUAGE README FILE` writes FILE.
"""

import pathlib
import re
import sys

# A receiver takes only what is signed.
MORE = {
    "python": '\nassert group.name == "Night rowers" and copy and receive(b"{}", {}, "whsec_AAAA") == 401\n',
    "typescript": (
        '\nif (group.name !== "Night rowers" || copy.size === 0) throw new Error("the samples did nothing");\n'
        'if (receive(Buffer.from("{}"), {}, "whsec_AAAA") !== 401) throw new Error("a forged delivery is taken");\n'
    ),
}

language, readme, file = sys.argv[1:]
blocks = re.findall(rf"^```{language}\n(.*?)^```$", pathlib.Path(readme).read_text(), re.MULTILINE | re.DOTALL)
assert len(blocks) > 4, f"{readme} has {len(blocks)} samples"
pathlib.Path(file).write_text("\n".join(blocks) + MORE[language])
