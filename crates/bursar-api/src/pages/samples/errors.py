# [read]
from bursar import Bursar, BursarError

bursar = Bursar(base_url="http://127.0.0.1:8080")

try:
    bursar.members.get("mem_00000000000000000000000000")
except BursarError as error:
    print(error.status, error.code, error.message)
    print("param", error.param, "request", error.request_id)

# [walk]
from bursar import Bursar, BursarError

bursar = Bursar(base_url="http://127.0.0.1:8080")
since = None  # The largest updated_at of your last finished walk.

try:
    page = bursar.members.list(cursor="old").first_page()
except BursarError as error:
    if error.code != "invalid_cursor":
        raise
    page = bursar.members.list(updated_since=since).first_page()
print(len(page.data))

# [key]
from bursar import Bursar, new_key

bursar = Bursar(base_url="http://127.0.0.1:8080")

# A new key for a new operation; the same one for each of its retries.
key = new_key()
group = bursar.groups.create(name="Alumni", idempotency_key=key)
print(group.id)

# [token]
from bursar import Bursar

bursar = Bursar(base_url="http://127.0.0.1:8080")

token = bursar.get_token()
print("works now:", token.effective_scopes)
for scope in token.withheld:
    print(scope.scope, "is withheld by the", scope.by)

# [retry]
from bursar import Bursar, BursarError, new_key

bursar = Bursar(base_url="http://127.0.0.1:8080")
key = new_key()

try:
    # Retried by itself, after Retry-After, with the same key.
    group = bursar.groups.create(name="Alumni", idempotency_key=key)
    print(group.id)
except BursarError as error:
    print("try again later, with the same key:", key, error.code)

# [in use]
from bursar import Bursar, BursarError, new_key

bursar = Bursar(base_url="http://127.0.0.1:8080")
key = new_key()

try:
    # While the first request with this key is running, the client waits and sends it again.
    group = bursar.groups.create(name="Alumni", idempotency_key=key)
    print(group.id)
except BursarError as error:
    print("try again later, with the same key:", key, error.code)

# [conflict]
from bursar import Bursar

bursar = Bursar(base_url="http://127.0.0.1:8080")

# Read the resource again and look at its status.
for reminder in bursar.reminders.list(status="scheduled"):
    print(reminder.id, reminder.status)
