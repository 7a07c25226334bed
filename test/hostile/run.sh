#!/bin/sh
# Tries on a running stack what a hostile caller or a careless author may do. It needs a shell and curl alone, so that any build can be
# tried.
#
#     test/hostile/run.sh BASE_URL PROJECT WORKER_PID
#
# BASE_URL    address of the server, such as http://127.0.0.1:7411; without authentication
# PROJECT     folder of the project that the stack serves; files hostile_* are written to its pipelines/ and tools/, and removed again
# WORKER_PID  process ID of the stack's only worker, which is stopped for some seconds at a time
#
# LONGHAUL_STDIO, if it is set, is a command that speaks MCP for this stack on standard input and output.
#
# Prints a line for each check, "ok" or "not ok", and ends with exit code 0 if all hold, 1 if not, 2 if it can't be tried.
set -u

if [ $# -ne 3 ] || [ ! -d "$2" ] || ! kill -0 "$3" 2>/dev/null; then
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
base=$1 project=$2 worker=$3
scratch=$(mktemp -d)
failed=0
cleanup() {
  kill -CONT "$worker" 2>/dev/null
  rm -rf "$scratch" "$project"/pipelines/hostile_* "$project"/tools/hostile_*
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$project/pipelines" "$project/tools"

# Without LONGHAUL_STDIO, a command that speaks MCP on standard input and output: the worker's program in the worker's environment, beside
# the stack that holds the lock of the worker's home.
if [ -z "${LONGHAUL_STDIO-}" ] && [ -r "/proc/$worker/environ" ]; then
  home=$(tr '\0' '\n' <"/proc/$worker/environ" | sed -n 's/^LONGHAUL_HOME=//p')
  program=$(tr '\0' '\n' <"/proc/$worker/cmdline" | grep '\.js$' | head -n 1)
  # The worker may have a channel to the process that has started it.
  cat >"$scratch/stdio" <<STDIO
exec 3<&0
xargs -0 -a '/proc/$worker/environ' sh -c 'exec env -i "\$@" env -u NODE_CHANNEL_FD "$(readlink "/proc/$worker/exe")" "$program" stdio <&3 3<&-' sh
STDIO
  [ ! -e "${home:-$HOME/.longhaul}/stack.lock" ] || LONGHAUL_STDIO="sh $scratch/stdio"
fi

# check DESCRIPTION EXPECTED GOT
check() {
  if [ "$2" = "$3" ]; then
    echo "ok - $1"
  else
    echo "not ok - $1: expected ${2:-nothing}; got ${3:-nothing}"
    failed=1
  fi
}

# plain METHOD PATH [ARGUMENTS...]: a request with curl's arguments; sets $status; the response's body is in $scratch/body
plain() {
  method=$1 address=$base$2
  shift 2
  status=$(curl -s -m 60 -o "$scratch/body" -w '%{http_code}' -X "$method" "$address" "$@")
}

# request METHOD PATH [BODY]: the same with JSON, answered at once
request() {
  plain "$1" "$2" -H 'Content-Type: application/json' -H 'Prefer: respond-async' ${3:+-d "$3"}
}

# mcp METHOD [PARAMS CAPABILITIES NAME]: the same of the revision 2026-07-28. PARAMS end with a comma; NAME is the tool's
mcp() {
  protocol=io.modelcontextprotocol
  plain POST /mcp -H 'Content-Type: application/json' \
    -H 'Accept: application/json, text/event-stream' -H 'MCP-Protocol-Version: 2026-07-28' -H "Mcp-Method: $1" ${4:+-H "Mcp-Name: $4"} \
    -d "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"$1\", \"params\": {${2-} \"_meta\": {\"$protocol/protocolVersion\": \"2026-07-28\", \"$protocol/clientInfo\": {\"name\": \"curl\", \"version\": \"8\"}, \"$protocol/clientCapabilities\": {${3-}}}}}"
}

# field NAME: the first string of this name in the last body
field() {
  sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p" "$scratch/body" | head -n 1
}

# await DESCRIPTION COMMAND...: repeats a command for a minute; leaves the script if it doesn't succeed
await() {
  awaited=$1
  shift
  for _ in $(seq 60); do
    "$@" && return
    sleep 1
  done
  echo "not ok - $awaited, within a minute; last response: $(cat "$scratch/body")"
  exit 1
}

serves() {
  request GET "/v1/tools/$1"
  [ "$status" = 200 ]
}
asks() {
  request GET "/v1/jobs/$job"
  grep -q '"input_required"' "$scratch/body"
}
has_ended() {
  request GET "/v1/jobs/$job"
  case $(sed -n 's/.*"status" *: *"\(succeeded\|failed\|canceled\)".*/\1/p' "$scratch/body") in ?*) ;; *) return 1 ;; esac
}
asks_or_has_ended() { asks || has_ended; }

# What the steps behind the approval have written, in $scratch/LEDGER.
ledger() { [ ! -e "$scratch/$1" ] || tr '\n' ' ' <"$scratch/$1"; }

# start LEDGER: starts the pipeline and waits for its question; sets $job
start() {
  request POST /v1/tools/hostile_gate/jobs "{\"ledger\": \"$scratch/$1\"}"
  job=$(field job_id)
  await 'the job asks for its approval' asks
}

# answer BOOLEAN [FILE]: answers the job's question; prints the status
answer() {
  curl -s -m 60 -o /dev/null -w '%{http_code}' "$base/v1/jobs/$job/input" -H 'Content-Type: application/json' \
    -d "{\"key\": \"$key\", \"value\": {\"approve\": $1}}"
}

# read_key: sets $key of the open question
read_key() {
  request GET "/v1/jobs/$job"
  key=$(sed -n 's/.*"requests" *: *{ *"\([^"]*\)".*/\1/p' "$scratch/body" | head -n 1)
}

cat >"$project/pipelines/hostile_gate.yml" <<'PIPELINE'
inputs:
  properties: { ledger: { type: string }, version: { type: string, default: '1' } }
  required: [ledger]
jobs:
  a:
    steps:
      - { name: gate, approval: { message: Publish? } }
      - { name: publish, run: 'echo "published $INPUT_VERSION" >> "$INPUT_LEDGER"' }
PIPELINE
await 'the pipeline is served' serves hostile_gate

# A resume passes no approval. resume_behind LEDGER BODY
resume_behind() {
  request POST "/v1/jobs/$job:resume" "$2"
  if [ "$status" -ge 400 ]; then
    check "an approval that was $1: a resume from behind it is refused by name" 409 "$status"
    return
  fi
  job=$(field job_id)
  await 'the resumed job asks, or ends' asks_or_has_ended
  check "an approval that was $1: nothing behind it has run after $2" "${3-}" "$(ledger "$1")"
  request POST "/v1/jobs/$job:cancel" "{}"
  await 'the resumed job ends' has_ended
}
start cancelled
request POST "/v1/jobs/$job:cancel" "{}"
await 'the job ends' has_ended
resume_behind cancelled '{"from": "a/publish", "changes": {"version": "other"}}'

start declined
read_key
answer false >/dev/null
await 'the job ends' has_ended
resume_behind declined '{"from": "a/publish"}'

start given
read_key
answer true >/dev/null
await 'the job ends' has_ended
resume_behind given '{"from": "a/publish", "changes": {"version": "other"}}' 'published 1 '

# Of two answers, one is acknowledged, and that one counts. two_answers LEDGER [at-once]
two_answers() {
  start "$1"
  read_key
  kill -STOP "$worker"
  if [ "${2-}" ]; then
    answer true >"$scratch/first" &
    answer false >"$scratch/second"
    wait $!
  else
    answer true >"$scratch/first"
    answer false >"$scratch/second"
  fi
  first=$(cat "$scratch/first") second=$(cat "$scratch/second")
  kill -CONT "$worker"
  case $first$second in
    2??2??)
      check "$1: one of two different answers is acknowledged" 'one of them' "both: $first and $second"
      ;;
    2??*) expected='published 1 ' ;;
    *2??) expected='' ;;
    *)
      # Neither was acknowledged: both may be sent again.
      expected='published 1 '
      answer true >/dev/null
      ;;
  esac
  await 'the answered job ends' has_ended
  case $first$second in
    2??2??) ;;
    *) check "$1: the answer that was acknowledged counts ($first for yes, $second for no)" "$expected" "$(ledger "$1")" ;;
  esac
}
two_answers 'one after the other'
two_answers 'at once' at-once

# A number that a double can't hold is refused, and so are bytes that aren't UTF-8.
for number in 9007199254740993 -9007199254740993 1e400 1e-400; do
  request POST /v1/tools/hostile_gate/jobs "{\"ledger\": \"$scratch/number\", \"version\": $number}"
  check "the argument $number is refused by name" "400 $number" "$status $(grep -o "body.version: [^;]*; got $number" "$scratch/body" | sed 's/.*got //')"
done
request POST /v1/tools/hostile_gate/jobs "$(printf '{"ledger": "%s", "version": "\351"}' "$scratch/bytes")"
check 'an argument in Latin-1 is refused' 400 "$status"

# An idempotency key names no second operation beside a client's own token.
own="hostile-$$-$(date +%s)"
mcp tools/call "\"name\": \"hostile_gate\", \"arguments\": {\"idempotency_key\": \"$own\", \"ledger\": \"$scratch/key\"}, \"operation\": {\"token\": \"$own\"}," \
  '"experimental": {"asyncTools": {}}' hostile_gate
check 'a key beside a token of its own is refused by name' params.operation.token "$(grep -o 'params.operation.token' "$scratch/body" | head -n 1)"
request GET "/v1/jobs/$own"
check 'a key beside a token of its own starts nothing' 404 "$status"

# Formalities of HTTP: none of them matters where nothing has to be said.
start formal
for form in '-d@/dev/null' '-HContent-Type:application/json' '-HContent-Type:text/plain' '-HAccept:*/*' '-HAccept:' '-HPrefer:wait=abc'; do
  plain POST "/v1/jobs/$job:cancel" "$form"
  case $status in 200 | 202) status=taken ;; esac
  check "a cancel without a body: curl $form" taken "$status"
done
plain PUT "/v1/jobs/$job"
check 'a method that a job has not' 405 "$status"
plain OPTIONS "/v1/jobs/$job"
check 'OPTIONS of a job' 204 "$status"
plain POST "/v1/jobs/$job:cancel" -H 'Content-Encoding: gzip' -H 'Content-Type: application/json' -d '{}'
check 'a coded body is refused by name' 415 "$status"
plain GET '/v1/jobs?cursor=none'
check 'a cursor that no page has given' 400 "$status"

# Everything that is piped into a server over stdio at once is answered. piped DESCRIPTION COUNT_OF_ANSWERS
piped() {
  $LONGHAUL_STDIO <"$scratch/input" >"$scratch/output"
  check "over stdio, $1: the exit code" 0 $?
  check "over stdio, $1: the answers" "$2" "$(grep -c '"id":' "$scratch/output")"
}
if [ "${LONGHAUL_STDIO-}" ]; then
  initialize='{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "hostile", "version": "1"}}}'
  call='{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "operation_list", "arguments": {}}}'
  for _ in 1 2 3; do
    printf '%s\n{"jsonrpc": "2.0", "method": "notifications/initialized"}\n{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}\n%s' \
      "$initialize" "$call" >"$scratch/input"
    piped 'three requests' 3
  done
  printf '\357\273\277%s\n{"jsonrpc":\n{"jsonrpc": "2.0", "id": 9007199254740993, "method": "ping"}\n"\351"\n%s\n' "$initialize" "$initialize" \
    >"$scratch/input"
  piped 'a byte order mark, half a request, an ID that would be rounded, Latin-1 and a request' 5
  check 'over stdio: what is no JSON is -32700' 3 "$(grep -c -- '-32700' "$scratch/output")"
fi

# The schema of one tool takes no other tool away.
cat >"$project/pipelines/hostile_boolean.yml" <<'PIPELINE'
inputs: { properties: { a: true, b: false, c: { type: array, items: { anyOf: [true, { not: false }] } } } }
jobs: { a: { steps: [{ run: 'true' }] } }
PIPELINE
cat >"$project/tools/hostile_boolean_tool.yaml" <<'TOOL'
workflow: { type: Elsewhere, task-queue: elsewhere }
input: { properties: { a: true, b: { properties: { c: false } } } }
TOOL
await 'the tool with boolean schemas is served' serves hostile_boolean
for path in /readyz /v1/tools '/v1/tools?format=openai' '/v1/tools?format=anthropic' /openapi.json /v1/tools/hostile_gate; do
  request GET "$path"
  check "beside tools with boolean schemas: GET $path" 200 "$status"
done
for tool in hostile_gate hostile_boolean hostile_boolean_tool; do
  request GET /v1/tools
  check "beside tools with boolean schemas: $tool is listed" listed "$(grep -q "\"$tool\"" "$scratch/body" && echo listed)"
done
mcp tools/list
check 'beside tools with boolean schemas: tools/list' listed "$(grep -q '"hostile_gate"' "$scratch/body" && echo listed)"

# Numbers at the ends of their ranges: a step runs, and ends.
# step NAME COMMAND RETRY: writes a pipeline of one step
step() { echo "jobs: { a: { steps: [{ run: '$2', retry: $3 }] } }" >"$project/pipelines/hostile_$1.yml"; }
step retry true '{ attempts: 1, backoff: 0 }'
step retry_fails false '{ attempts: 2, backoff: 0 }'
step range true '{ attempts: 0, backoff: -1 }'
await 'the pipeline with a retry is served' serves hostile_retry
await 'the other pipeline with a retry is served' serves hostile_retry_fails
for tool in hostile_retry:succeeded hostile_retry_fails:failed; do
  request POST "/v1/tools/${tool%:*}/jobs" '{}'
  job=$(field job_id)
  await "the job of ${tool%:*} ends" has_ended
  check "a retry without a pause: ${tool%:*}" "${tool#*:}" "$(field status)"
done
request GET /v1/tools/hostile_range
check 'a retry with numbers beyond their ranges makes no tool' 404 "$status"

exit $failed
