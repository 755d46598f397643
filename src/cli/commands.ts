/** The table of commands, each of which is loaded when it is run. @module */

import type { OptionSpec } from './arguments.ts'
import { JSON_FLAG, type Command } from './command.ts'
import { SERVE } from './serve.ts'

const LINK_FILE: OptionSpec = {
  placeholder: 'FILE',
  meaning: 'read the connect link from FILE, "-" is stdin',
}

const LINK_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  'link-file': LINK_FILE,
  save: { meaning: 'remember the server of this link for later calls' },
}

const LINK_DETAILS =
  'The clipboard is that of the daemon that runs here, unless there is a connect link of ' +
  'another one: in --link-file, as the first line of stdin, or from an earlier --save, which ' +
  'keeps its server in a private file beside the config file. --data-dir names a daemon of this ' +
  'machine all the same.'

const NAMES: Readonly<Record<string, OptionSpec>> = {
  names: { meaning: 'print only what to call each, one a line, as completion reads it' },
}

const QR: OptionSpec = {
  placeholder: 'page|link',
  meaning: 'what the code leads to: the page for phones, or the link for apps (page)',
}

const ID_DETAILS =
  'ID is the id, the user name or the label of a device, if no other one has that label.'

/** Every command, by its name, in the order of the help. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  serve: SERVE,
  pair: {
    usage: 'pair',
    summary: 'add a device; shows its QR code, link, user name and password once',
    examples: [
      "clipgate pair --label 'My phone'",
      'clipgate pair --kind peer --label desk > link.txt',
    ],
    options: {
      kind: { placeholder: 'phone|peer', meaning: 'what connects (phone)' },
      label: { placeholder: 'LABEL', meaning: 'what to call it' },
      username: { placeholder: 'USER', meaning: 'its user name (a random one)' },
      'password-stdin': { meaning: 'read its password from stdin (a random one)' },
      url: { placeholder: 'URL', meaning: 'base URL of the link (that of this machine)' },
      https: { meaning: 'put the https URL of this machine into the link' },
      qr: QR,
      ...JSON_FLAG,
    },
    run: async (call) => (await import('./pair.ts')).runPair(call),
  },
  devices: {
    usage: 'devices',
    summary: 'list the paired devices',
    examples: ['clipgate devices', 'clipgate devices --json'],
    options: { ...NAMES, ...JSON_FLAG },
    run: async (call) => (await import('./devices.ts')).runDevices(call),
  },
  rotate: {
    usage: 'rotate ID',
    summary: 'give a device a new password, shown once; the old one fails at once',
    details: ID_DETAILS,
    examples: ["clipgate rotate 'My phone'"],
    options: { qr: QR, ...JSON_FLAG },
    operands: [1, 1],
    run: async (call) => (await import('./pair.ts')).runRotate(call),
  },
  revoke: {
    usage: 'revoke ID',
    summary: 'remove a device; its password fails at once',
    details: ID_DETAILS,
    examples: ["clipgate revoke 'My phone'"],
    options: JSON_FLAG,
    operands: [1, 1],
    run: async (call) => (await import('./devices.ts')).runRevoke(call),
  },
  status: {
    usage: 'status',
    summary: 'tell how the daemon is; never what was copied',
    details: 'Exit code 3 while none runs.',
    examples: ['clipgate status', 'clipgate status > /dev/null || clipgate serve'],
    options: JSON_FLAG,
    run: async (call) => (await import('./status.ts')).runStatus(call),
  },
  log: {
    usage: 'log',
    summary: 'tell what happened lately: who sent, logged in, was paired or removed; no content',
    details:
      'The last 200 things since the daemon was started, which it has in memory only: what became ' +
      'current, by its kind and size, devices that were paired, changed and removed, logins that ' +
      'were refused or had a new address, pauses. With --json a line for each.',
    examples: ['clipgate log', 'clipgate log --json'],
    options: JSON_FLAG,
    run: async (call) => (await import('./log.ts')).runLog(call),
  },
  stop: {
    usage: 'stop',
    summary: 'stop the running daemon, and wait until it has ended',
    details: 'As a signal would: uploads that are under way have the grace period to finish.',
    examples: ['clipgate stop'],
    options: JSON_FLAG,
    run: async (call) => (await import('./panel.ts')).runStop(call),
  },
  panel: {
    usage: 'panel',
    summary: 'open the panel of the running daemon in a browser',
    details:
      'Where there is no desktop, and over SSH, it prints the URL instead. Whoever has the URL ' +
      'can use the panel until the daemon stops, or all browsers were signed out.',
    examples: ['clipgate panel', 'clipgate panel --print'],
    options: {
      print: { meaning: 'print the URL, and open nothing' },
      menu: { meaning: 'start it where it does not run, and tell failures on the desktop' },
      ...JSON_FLAG,
    },
    run: async (call) => (await import('./panel.ts')).runPanel(call),
  },
  doctor: {
    usage: 'doctor',
    summary: 'find what would stop a phone, and say what to do about it',
    details:
      'It looks at the daemon, or at what a start would meet, and at this machine. --through ' +
      'goes through a proxy or another address as a phone would, with a device of its own that ' +
      'is removed again; --link-file looks at an address alone. --try-clipboard replaces what is ' +
      'on the clipboard. Exit code 0 when there is no problem, else 1.',
    examples: ['clipgate doctor', 'clipgate doctor --through https://clip.example.net'],
    options: {
      through: { placeholder: 'URL', meaning: 'check this address too, of a proxy or on the LAN' },
      'link-file': { placeholder: 'FILE', meaning: 'log in with this connect link, "-" is stdin' },
      'try-clipboard': { meaning: 'copy a text, an image and a file, and read them back' },
      ...JSON_FLAG,
    },
    settings: 'unread',
    run: async (call) => (await import('./doctor.ts')).runDoctor(call),
  },
  pause: {
    usage: 'pause [DURATION]',
    summary: 'leave the clipboard of this desktop alone: nothing is read, shared or written',
    details:
      'Until "clipgate resume", or for DURATION: seconds, or 10m, 1h, 1d. What is copied ' +
      'meanwhile is never shared, unless it is copied once more afterwards. Devices still read ' +
      'the last item, and what they push is kept; the newest of it is put on the clipboard ' +
      'afterwards, unless something was copied since it came.',
    examples: ['clipgate pause', 'clipgate pause 10m'],
    options: JSON_FLAG,
    operands: [0, 1],
    run: async (call) => (await import('./panel.ts')).runPause(call),
  },
  resume: {
    usage: 'resume',
    summary: 'end a pause',
    examples: ['clipgate resume'],
    options: JSON_FLAG,
    run: async (call) => (await import('./panel.ts')).runResume(call),
  },
  join: {
    usage: 'join',
    summary: 'share with another daemon, from now on; its link is on stdin',
    details:
      'The link is that of a device of the other daemon, made there with: clipgate pair --kind ' +
      'peer. What is copied or pushed on one side is on the other one, and comes again by itself ' +
      'after an outage.',
    examples: ['clipgate join --link-file link.txt --name desk'],
    options: {
      'link-file': LINK_FILE,
      name: { placeholder: 'NAME', meaning: 'what to call it here (the label in its link)' },
      'tls-fingerprint': {
        placeholder: 'SHA256',
        meaning: 'the one certificate to accept, for one that nobody else vouches for',
      },
      ...JSON_FLAG,
    },
    run: async (call) => (await import('./peers.ts')).runJoin(call),
  },
  leave: {
    usage: 'leave NAME',
    summary: 'do not share with another daemon any more',
    examples: ['clipgate leave desk'],
    options: JSON_FLAG,
    operands: [1, 1],
    run: async (call) => (await import('./peers.ts')).runLeave(call),
  },
  peers: {
    usage: 'peers',
    summary: 'list the joined daemons, and how the links to them are doing',
    examples: ['clipgate peers'],
    options: { ...NAMES, ...JSON_FLAG },
    run: async (call) => (await import('./peers.ts')).runPeers(call),
  },
  group: {
    usage: 'group new|import|leave',
    summary: 'make the key of a group that uses a bus, bring that of another member, or leave',
    details:
      '"new" makes it once, and says where it is; "import" reads a copy from stdin. It is never ' +
      'shown. It counts from the next start of the daemon with --bus.',
    examples: [
      'clipgate group new',
      'ssh desk clipgate group import < ~/.local/state/clipgate/group.key',
    ],
    options: { force: { meaning: 'replace the key that is there' }, ...JSON_FLAG },
    operands: [1, 1],
    run: async (call) => (await import('./group.ts')).runGroup(call),
  },
  link: {
    usage: 'link decode',
    summary: 'read a connect link from stdin, and print what it holds without its password',
    examples: ['clipgate link decode < link.txt'],
    options: JSON_FLAG,
    operands: [1, 1],
    settings: 'none',
    run: async (call) => (await import('./link.ts')).runLink(call),
  },
  pull: {
    usage: 'pull',
    summary: 'print the current text, or save the current image or file here',
    details: LINK_DETAILS,
    examples: [
      'clipgate pull',
      'clipgate pull --dir ~/Pictures',
      'clipgate pull --link-file link.txt --output photo.jpg',
    ],
    options: {
      ...LINK_OPTIONS,
      output: {
        placeholder: 'FILE',
        meaning: 'the file to save in, "-" is stdout (named like the item)',
      },
      dir: {
        placeholder: 'DIR',
        meaning: 'the folder to save in, under the name of the item (this one)',
      },
      ...JSON_FLAG,
    },
    settings: 'unread',
    run: async (call) => (await import('./pull.ts')).runPull(call),
  },
  push: {
    usage: 'push [FILE...]',
    summary: 'put files, or the text on stdin, on the clipboard',
    details: `Several files are one item. ${LINK_DETAILS} What follows a link on stdin is the text.`,
    examples: [
      'clipgate push photo.jpg',
      'clipgate push *.pdf',
      'date | clipgate push',
      'clipgate push --link-file link.txt photo.jpg',
    ],
    options: { ...LINK_OPTIONS, ...JSON_FLAG },
    operands: [0, Infinity],
    settings: 'unread',
    run: async (call) => (await import('./push.ts')).runPush(call),
  },
  watch: {
    usage: 'watch',
    summary: 'print each change of the clipboard, beginning with what is on it',
    details:
      `${LINK_DETAILS} A connection that breaks is made again, for as long as it takes. SIGTERM ` +
      'and SIGINT end it, and so does a reader of its output that goes away.',
    examples: ['clipgate watch', 'clipgate watch --json --link-file link.txt'],
    options: { ...LINK_OPTIONS, ...JSON_FLAG },
    settings: 'unread',
    run: async (call) => (await import('./watch.ts')).runWatch(call),
  },
  service: {
    usage: 'service install|remove|status',
    summary: 'let clipgate start by itself when you log in, or no longer',
    details:
      'For systemd, launchd and Windows, with your own rights. It runs "clipgate serve", whose ' +
      'settings are those of the config file. "install" starts it, and replaces an earlier one; ' +
      '"remove" stops it and leaves devices and settings alone.',
    examples: ['clipgate service install', 'clipgate service status'],
    options: JSON_FLAG,
    operands: [1, 1],
    settings: 'none',
    run: async (call) => (await import('./service/service.ts')).runService(call),
  },
  completion: {
    usage: 'completion bash|zsh|fish',
    summary: 'print what completes commands, options and names of devices in a shell',
    details:
      'In ~/.bashrc: source <(clipgate completion bash). For zsh and fish it goes into a file: ' +
      '_clipgate in a folder of $fpath, or ~/.config/fish/completions/clipgate.fish.',
    examples: ['clipgate completion zsh > ~/.zfunc/_clipgate'],
    options: {},
    operands: [1, 1],
    settings: 'none',
    run: async (call) => (await import('./words/completion.ts')).runCompletion(call, COMMANDS),
  },
  help: {
    usage: 'help [COMMAND]',
    summary: 'explain a command',
    examples: ['clipgate help serve'],
    options: { man: { meaning: 'print the manual page of all commands, as troff' } },
    operands: [0, 1],
    settings: 'none',
    run: async (call) => (await import('./words/help.ts')).runHelp(call, COMMANDS),
  },
  version: {
    usage: 'version',
    summary: 'print the version',
    options: {},
    settings: 'none',
    run: async (call) => (await import('./words/help.ts')).runVersion(call),
  },
}

/** The command of this name; `undefined` when there is none. */
export function findCommand(name: string): Command | undefined {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
}
