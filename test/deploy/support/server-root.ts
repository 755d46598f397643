/**
 * An empty server: the root folder of this machine, with whatever is written there gone in the end,
 * and a network of its own. What it cannot have of a server are stand-ins: the archive of Debian,
 * systemd as the first process, the authority for certificates, and the firewall.
 * @module
 */

import { dirname } from 'node:path'
import type { TestContext } from 'node:test'
import { execute } from '../../support/execute.ts'
import { makeMachine, needsMachines } from '../../support/machines.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** What apt installs is hidden before; what it is asked for is either a file or one of these. */
const APT = `#!/bin/bash -e
case "$1" in update) exit ;; install) shift ;; *) exit 1 ;; esac
for each; do case "$each" in
  --no-install-recommends | --reinstall) ;;
  ./*.deb) dpkg --force-depends --install "$each" ;;
  *) mv /hidden/"$each" /usr/local/bin/ ;;
esac; done
`

/**
 * Starts the unit of the package as its user, with its variables, and the proxies as they are. Whoever
 * waits for a sign of life gets one soon.
 */
const SYSTEMCTL = `#!/bin/bash -e
unit=/usr/lib/systemd/system/clipgate.service
value() { sed -n "s/^$1=//p" $unit; }
start() {
  install -d -m 700 -o "$(value User)" /var/lib/clipgate
  variables=$(value Environment | sed s,%S,/var/lib,)
  runuser -u "$(value User)" -- env $variables CLIPGATE_HEARTBEAT=1s $(value ExecStart) >>/log 2>&1 3>&- &
  echo $! >/pid
  until curl -sf -o /dev/null http://127.0.0.1:42720/healthz; do kill -0 $!; done
}
stop() { kill "$(cat /pid)"; tail --pid="$(cat /pid)" -f /dev/null; }
case "$*" in
  'enable --now clipgate' | 'start clipgate') start ;;
  'stop clipgate') stop ;;
  'restart clipgate') stop; start ;;
  'reload caddy') caddy adapt --config /etc/caddy/Caddyfile >/caddy.json 2>/dev/null ;;
  'reload nginx') nginx ;;
  *) exit 1 ;;
esac
`

/** Its certificate is signed by itself. As the real one, it wants port 80 to be open. */
const CERTBOT = `#!/bin/bash -e
grep -q 80,443/tcp /ufw
all="$*"; name=\${all#*--domain }; name=\${name%% *}
folder=/etc/letsencrypt/live/$name
mkdir -p "$folder"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj "/CN=$name" \\
  -addext "subjectAltName=DNS:$name" -keyout "$folder/privkey.pem" -out "$folder/fullchain.pem"
`

const STAND_INS = [
  ['/usr/local/bin/apt', APT],
  ['/usr/local/bin/systemctl', SYSTEMCTL],
  ['/hidden/certbot', CERTBOT],
  ['/hidden/ufw', '#!/bin/bash\necho "$*" >>/ufw\n'],
] as const

/** The first process, in whose end all that it started ends too. Its input is the commands. */
const ENTER = `
set -e
mount -t tmpfs tmpfs "$0"
mkdir "$0/upper" "$0/work" "$0/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" "$0/root"
mount --rbind /dev "$0/root/dev"
mount -t proc proc "$0/root/proc"
cat >"$0/root/commands"
exec chroot "$0/root" env -i HOME=/root PATH="$1" \\
  CURL_CA_BUNDLE="$2" NODE_EXTRA_CA_CERTS="$2" bash -e /commands </dev/null`

/** Debian's archive gives both proxies a site on port 80, and no server `sudo`. */
const EMPTY = `
mkdir /hidden
mv /usr/bin/caddy /usr/sbin/nginx /hidden/
rm -rf /etc/clipgate /var/lib/clipgate /usr/bin/sudo
`

/** Options for `it()`. */
export function needsServer(): { readonly skip: string | false } {
  return needsMachines(
    ...['unshare', 'chroot', 'mount', 'bash', 'runuser', 'dpkg', 'systemd-sysusers', 'openssl'],
    ...['caddy', 'nginx'],
  )
}

/**
 * Runs commands in one shell of root, which ends with the first that fails.
 *
 * @param name Where it is found.
 * @param files Paths and contents of what is there before.
 * @returns What the commands print.
 */
export async function runOnServer(
  t: TestContext,
  name: string,
  files: ReadonlyMap<string, string | Buffer>,
  commands: string,
): Promise<string> {
  const { inside } = await makeMachine(t, 'server')
  const hosts = `127.0.0.1 localhost ${name}\n`
  const lines = [...STAND_INS, ['/etc/hosts', hosts] as const, ...files].map(([path, content]) => {
    const encoded = Buffer.from(content).toString('base64')
    return `install -D -m 755 <(base64 -d <<<${encoded}) ${path}\n`
  })
  const path = `/usr/local/sbin:/usr/local/bin:${dirname(process.execPath)}:/usr/sbin:/usr/bin:/sbin:/bin`
  const certificates = `/etc/letsencrypt/live/${name}/fullchain.pem`
  const [program = '', ...args] = [
    ...[...inside, 'unshare', '--pid', '--fork', '--kill-child', 'sh', '-c', ENTER],
    ...[await temporaryFolder(t), path, certificates],
  ]
  const running = execute(program, args)
  running.child.stdin?.end([EMPTY, ...lines, 'cd /root\n', commands].join(''))
  return (await running).stdout
}
