# [read]
# --include shows the status and X-Request-Id beside the body.
curl --include 'http://127.0.0.1:8080/v1/members?limit=0' \
  -H "Authorization: Bearer $BURSAR_TOKEN"

# [walk]
# Begin again without a cursor, from what you have.
SINCE=2026-11-15T01:39:08.123456Z
curl "http://127.0.0.1:8080/v1/members?limit=100&updatedSince=$SINCE" \
  -H "Authorization: Bearer $BURSAR_TOKEN"

# [key]
# A new key for a new operation; the same one for each of its retries.
KEY=$(openssl rand -hex 16)
curl 'http://127.0.0.1:8080/v1/groups' \
  --retry 5 --retry-connrefused \
  -H "Authorization: Bearer $BURSAR_TOKEN" \
  -H "Idempotency-Key: $KEY" \
  -H 'Content-Type: application/json' \
  -d '{"name": "Alumni"}'

# [token]
# Says which scopes work now, and why others do not.
curl --include 'http://127.0.0.1:8080/v1/token' \
  -H "Authorization: Bearer $BURSAR_TOKEN"

# [retry]
# curl waits as long as Retry-After says. The key makes it safe.
KEY=$(openssl rand -hex 16)
curl 'http://127.0.0.1:8080/v1/groups' \
  --retry 5 --retry-connrefused \
  -H "Authorization: Bearer $BURSAR_TOKEN" \
  -H "Idempotency-Key: $KEY" \
  -H 'Content-Type: application/json' \
  -d '{"name": "Alumni"}'

# [in use]
# The first request with this key is still running. curl tries again after Retry-After.
KEY=$(openssl rand -hex 16)
curl 'http://127.0.0.1:8080/v1/groups' \
  --fail-with-body --retry 5 --retry-all-errors \
  -H "Authorization: Bearer $BURSAR_TOKEN" \
  -H "Idempotency-Key: $KEY" \
  -H 'Content-Type: application/json' \
  -d '{"name": "Alumni"}'

# [conflict]
# Read the resource again and look at its status.
curl 'http://127.0.0.1:8080/v1/reminders?status=scheduled' \
  -H "Authorization: Bearer $BURSAR_TOKEN"
