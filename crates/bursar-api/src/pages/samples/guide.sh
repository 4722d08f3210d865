# [start]
export BURSAR_TOKEN='your token'
curl 'http://127.0.0.1:8080/v1/token' \
  -H "Authorization: Bearer $BURSAR_TOKEN"

# [list]
PAGE=$(curl 'http://127.0.0.1:8080/v1/members?limit=100' \
  -H "Authorization: Bearer $BURSAR_TOKEN")
echo "$PAGE"
CURSOR=$(echo "$PAGE" | sed -n 's/.*"nextCursor":"\([^"]*\)".*/\1/p')

# Until there is no next page:
if [ -n "$CURSOR" ]; then
  curl "http://127.0.0.1:8080/v1/members?limit=100&cursor=$CURSOR" \
    -H "Authorization: Bearer $BURSAR_TOKEN"
fi

# [sync]
SINCE=2026-11-15T01:39:08.123456Z
curl "http://127.0.0.1:8080/v1/members?limit=100&updatedSince=$SINCE" \
  -H "Authorization: Bearer $BURSAR_TOKEN"

# [write]
KEY=$(openssl rand -hex 16)
curl 'http://127.0.0.1:8080/v1/groups' \
  --retry 5 --retry-connrefused \
  -H "Authorization: Bearer $BURSAR_TOKEN" \
  -H "Idempotency-Key: $KEY" \
  -H 'Content-Type: application/json' \
  -d '{"name": "Alumni"}'

# [errors]
curl --include 'http://127.0.0.1:8080/v1/members?limit=0' \
  -H "Authorization: Bearer $BURSAR_TOKEN"

# [limits]
curl --include --retry 5 'http://127.0.0.1:8080/v1/members' \
  -H "Authorization: Bearer $BURSAR_TOKEN"

# [catch_up]
SINCE=2026-11-15T01:39:08.123456Z
curl "http://127.0.0.1:8080/v1/events?limit=100&createdSince=$SINCE" \
  -H "Authorization: Bearer $BURSAR_TOKEN"
