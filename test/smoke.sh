#!/bin/sh
# What a user gets: packs, installs the pack in empty folders, and uses it. Leaves nothing behind.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
daemon=

cleanup() {
  status=$?
  if [ -n "$daemon" ]; then kill "$daemon" 2>/dev/null || true; fi
  rm -rf "$work"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

fail() {
  echo "smoke: $1" >&2
  exit 1
}

# A member of the JSON line on stdin.
member() {
  node -e 'const line = require("fs").readFileSync(0, "utf8").split("\n")[0]
           process.stdout.write(String(JSON.parse(line)[process.argv[1]]))' "$1"
}

# Uses the program $1 as a phone, a script and its owner would.
use() {
  clipgate=$1
  mkdir "$work/use"
  cd "$work/use"
  export CLIPGATE_DATA_DIR="$work/use/data"

  "$clipgate" --version | grep -Eq '^clipgate [0-9]+\.[0-9]+\.[0-9]+' || fail 'no version'

  "$clipgate" serve --json --headless --listen 127.0.0.1:0 --control 127.0.0.1:0 >ready.json 2>log.txt &
  daemon=$!
  tries=0
  until [ -s ready.json ]; do
    tries=$((tries + 1))
    [ "$tries" -le 100 ] || fail "the daemon did not start: $(cat log.txt)"
    kill -0 "$daemon" 2>/dev/null || fail "the daemon ended: $(cat log.txt)"
    sleep 0.1
  done
  gateway=$(member gateway <ready.json)

  "$clipgate" pair --json --label 'Smoke test' >device.json 2>/dev/null
  user=$(member username <device.json)
  password=$(member password <device.json)
  member link <device.json >link.txt
  printf 'user = "%s:%s"\n' "$user" "$password" >curl.conf

  # As a phone.
  curl -sSf -K curl.conf -X PUT --data-binary '{"type":"Text","text":"from the phone"}' \
    "$gateway/Sync.json" | grep -q '"contentId":"blake3v1:' || fail 'nothing was pushed'
  curl -sSf -K curl.conf "$gateway/Sync.json" | grep -q '"from the phone"' || fail 'nothing came back'

  # As a script.
  [ "$("$clipgate" pull --link-file link.txt)" = 'from the phone' ] || fail 'pull printed something else'
  head -c 300000 /dev/urandom >sent.bin
  "$clipgate" push --link-file link.txt sent.bin >/dev/null
  mkdir received
  "$clipgate" pull --link-file link.txt --dir received >/dev/null
  cmp sent.bin received/sent.bin || fail 'the file came back different'

  # As its owner.
  echo 'from here' | "$clipgate" push >/dev/null
  [ "$("$clipgate" pull </dev/null)" = 'from here' ] || fail 'pull without a link printed something else'
  "$clipgate" status | grep -q headless || fail 'status says something else'
  "$clipgate" revoke --json "$user" >/dev/null
  code=$(curl -s -o /dev/null -w '%{http_code}' -K curl.conf "$gateway/Sync.json")
  [ "$code" = 401 ] || fail "a revoked device got $code"

  kill -TERM "$daemon"
  wait "$daemon" || fail "the daemon ended with $?"
  daemon=

  cd "$work"
  rm -r "$work/use"
}

cd "$work"
npm pack --silent --pack-destination "$work" "$root" >/dev/null
mkdir server home
install() {
  npm install --silent --no-audit --no-fund --omit=dev --prefer-offline "$@" ../clipgate-*.tgz
}

# For a server, and for a user. See docs/guides/install.md.
cd server
echo '{ "private": true }' >package.json
install
# Who uses no bus does without its client; who wants one is told.
[ ! -e node_modules/@nats-io ] || fail 'the client of the bus was installed'
export CLIPGATE_DATA_DIR="$work/bus"
node_modules/.bin/clipgate group new >/dev/null
if node_modules/.bin/clipgate serve --headless --listen 127.0.0.1:0 --control 127.0.0.1:0 \
  --bus nats://127.0.0.1:1 2>bus.txt; then fail 'it started without the client of the bus'; fi
grep -q 'npm install @nats-io/transport-node' bus.txt || fail "it says: $(cat bus.txt)"
size=$(du -sk node_modules | cut -f1)
packages=$(npm ls --all --parseable | tail -n +2 | wc -l)
echo "smoke: installed $packages packages, $size KiB"
install --global --prefix "$work/user"
[ -e "$work/user/share/man/man1/clipgate.1" ] || fail 'the manual page is missing'
size=$(du -sk "$work/user" | cut -f1)
echo "smoke: installed $size KiB for a desktop"
[ ! -e "$work/user/lib/node_modules/clipgate/node_modules" ] || fail 'it needs other packages'

# Programs in TypeScript read these; links and the client are for runtimes without Node's types, too.
mkdir "$work/types"
cd "$work/types"
mkdir node_modules
ln -s "$work/server/node_modules/clipgate" node_modules/clipgate
ln -s "$root/node_modules/@types" node_modules/@types
cat >daemon.mts <<'END'
import { startDaemon, loadSettings } from 'clipgate'
import { openStation, createGateway, type ContentId } from 'clipgate/gateway'
import { connect, type ContentId as ClientContentId } from 'clipgate/client'
export const id: (id: ContentId) => ClientContentId = (id) => id
export const pid: number = (await startDaemon(loadSettings({
  options: {}, where: { platform: 'linux', environment: {}, home: '/' }, cwd: '/',
}))).ready.pid
// @ts-expect-error A directory is needed.
await openStation({})
export { connect, createGateway }
END
cat >neutral.mts <<'END'
import { connect, ClientError } from 'clipgate/client'
import { LinkError, parseConnectLink, redactLink } from 'clipgate/link'
export const url: string = parseConnectLink('').url
export { connect, ClientError, LinkError, redactLink }
END
check_types() {
  "$root/node_modules/.bin/tsc" --noEmit --module nodenext --target es2022 --strict "$@" ||
    fail 'the types cannot be used'
}
check_types --types node daemon.mts
check_types --lib es2022,dom --types '' neutral.mts
cd "$work"

# Another program than Node reads the one; the other is a program of its own.
for modules in "$work/server/node_modules" "$work/user/lib/node_modules"; do
  node --check "$modules/clipgate/dist/windows-helper.js" || fail 'no windows-helper.js'
  for helper in $(find "$root/src" -name '*-helper.js'); do
    cmp "$helper" "$modules/clipgate/dist/$(basename "$helper")" || fail "no $(basename "$helper")"
  done
done

export HOME="$work/home"
unset XDG_CONFIG_HOME XDG_STATE_HOME
for program in server/node_modules/.bin/clipgate user/bin/clipgate; do
  use "$work/$program"
  echo "smoke: used $program"
done
echo 'smoke: ok'
