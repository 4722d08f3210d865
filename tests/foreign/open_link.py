"""Opens a link that signs a person in, presses its button, and looks for a text on the page behind it.

    open_link.py URL TEXT
"""

import html
import http.cookiejar
import re
import sys
import urllib.parse
import urllib.request

url, text = sys.argv[1:]
browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
origin = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(url))
page = browser.open(url, timeout=20).read().decode()
form = re.search(r"<form[^>]*method=\"?post\"?[^>]*>.*?</form>", page, re.DOTALL | re.IGNORECASE)
assert form, page
action = re.search(r'action="([^"]*)"', form[0])
fields = {
    re.search(r'name="([^"]*)"', field)[1]: html.unescape(re.search(r'value="([^"]*)"', field)[1])
    for field in re.findall(r"<input[^>]*type=\"?hidden\"?[^>]*>", form[0])
}
request = urllib.request.Request(
    urllib.parse.urljoin(url, html.unescape(action[1]) if action else url),
    data=urllib.parse.urlencode(fields).encode(),
    headers={"Origin": origin, "Sec-Fetch-Site": "same-origin"},
)
page = browser.open(request, timeout=20).read().decode()
assert text in page, page
print(f"signed in: the page shows {text}")
