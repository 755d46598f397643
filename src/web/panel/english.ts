/** Every word of the panel, in English. @module */

import { countOf, type TimeUnit } from '../../lib/count-of.ts'
import type { HappeningKind } from '../../core/happening.ts'
import type { Device } from './state.ts'

function endOf(streams: number) {
  if (streams === 0) return 'Its open connections end.'
  return `Its open connections end (${streams} now).`
}

/** The parts of a sentence about what happened. */
interface Told {
  readonly name: string
  readonly what: string
  readonly by: string
  readonly times: number
  readonly address: string
  /** The end of a pause; `null` where it has none. */
  readonly until: string | null
}

export const english = {
  lang: 'en-GB',
  name: 'clipgate',
  newTab: 'New tab',
  loading: 'Asking clipgate…',

  time: {
    now: 'just now',
    ago: (n: number, unit: TimeUnit) => `${countOf(n, unit)} ago`,
    left: (n: number, unit: TimeUnit) => `${countOf(n, unit)} left`,
  },

  link: {
    live: 'Connected',
    paused: 'Paused',
    trying: 'Connecting…',
    away: 'No answer',
    refused: 'Not signed in',
  },
  errors: {
    away: 'clipgate does not answer.',
    signedOut: 'This page is no longer signed in. Run “clipgate panel” again.',
    unexpected: (status: number) => `clipgate answered with status ${status}; its log says why.`,
    unreadable: 'It was not sent: this browser no longer gets the file. Choose it again.',
    notPushed: (status: number) => {
      if (status === 400) return 'It was not sent: no file can have this name.'
      if (status === 413) return 'It was not sent: it is longer than clipgate takes.'
      if (status === 507) return 'It was not sent: the disk of this computer is full.'
      return `It was not sent: clipgate answered with status ${status}.`
    },
  },

  problems: {
    heading: 'Needs attention',
    awayTitle: 'clipgate does not answer',
    away: 'What you see is from before. Once clipgate runs again, “clipgate panel” opens a new page. To start it: ',
    awayCommand: 'clipgate serve',
    clipboard: 'The system clipboard cannot be used',
    received: 'Something that was sent is not in the received folder',
    receivedText: (reason: string) =>
      `${reason}. What waits is tried again with the next file, and when clipgate is restarted. What was given up has to be sent again.`,
    listener: (name: string): string =>
      name !== 'control' ? 'Phones cannot reach this computer' : 'This page has a problem',
    devices: 'A password that has ended is not saved as such yet',
    devicesText: (reason: string) =>
      `${reason}. It counts until a restart of clipgate, which saves it as soon as it can.`,
    lost: 'Some devices look for this computer at an address that it lost',
    lostText: (urls: string) =>
      `They were paired for ${urls}. Reserve that address for this computer in the router, or give them a new password, and scan the new code.`,
    loopback: 'Phones cannot reach this computer',
    loopbackFix:
      'The gateway listens on this computer only. Set --listen 0.0.0.0:42720, or --public-url if a proxy leads here.',
    networkFix:
      'This computer has no address on a network. Connect it to one, or set --public-url if a proxy leads here.',
  },

  signedOut: {
    heading: 'This tab is not signed in',
    why: 'This page shows and changes things that are yours alone, so it wants to know that it is you who opened it. A tab is signed in until clipgate stops, or all browsers were signed out.',
    tab: 'Is there a tab that is signed in? Choose “New tab” at its top: it opens another one.',
    run: 'Otherwise run this on the computer where clipgate runs:',
    command: 'clipgate panel',
    then: 'It opens the panel in a new tab. This one can be closed.',
  },

  item: {
    heading: 'Current item',
    none: 'Nothing here yet',
    noneHint: 'Copy something on this computer, or push something from a phone.',
    types: { Text: 'Text', Image: 'Image', File: 'File', Group: 'Several files' },
    show: 'Show preview',
    hide: 'Hide preview',
    hidden: 'The preview is hidden.',
    noPreview: 'There is no preview of this item.',
    previewOf: 'Preview of the current image',
    previewText: 'Preview of the current text',
    cut: 'Only the beginning is shown.',
    all: 'Show all of it',
    copy: 'Copy',
    copied: 'Copied.',
    notCopied: 'This browser does not let the page copy.',
    save: 'Save',
    changed: 'Something else is current by now.',
    openFolder: 'Open folder',
    folder: (path: string) => `Received files are in ${path}.`,
    noFolder: (path: string) => `No program opened the folder. Received files are in ${path}.`,
    senders: {
      clipboard: 'copied on this computer',
      owner: 'pushed on this computer',
      device: (label: string) => `from ${label}`,
      removed: 'from a device that was removed',
      other: 'from another computer',
    },
    announce: (type: string, size: string) => `New item: ${type}, ${size}`,
  },

  transfers: {
    heading: 'On the way',
    here: 'this computer',
    from: (device: string) => `from ${device}`,
    to: (device: string) => `to ${device}`,
    of: (done: string, total: string) => `${done} of ${total}`,
  },

  push: {
    heading: 'Send something',
    label: 'Text to send',
    placeholder: 'Type or paste a text; drop or paste files anywhere on this page',
    submit: 'Send',
    files: 'Choose files',
    sending: (name: string) => `Sending ${name}…`,
    held: {
      offline: 'Waiting for the network. It goes on by itself.',
      away: 'Waiting for clipgate. It goes on by itself.',
      busy: 'clipgate is busy. It goes on by itself.',
    },
    cancel: 'Cancel',
    sent: (name: string) => `${name} was sent.`,
    sentText: 'The text was sent.',
  },

  recent: {
    heading: 'Recent items',
    hint: 'In the memory of clipgate only: they end with it.',
    forget: 'Forget all',
    use: 'Use again',
    useName: (name: string) => `Use again: ${name}`,
    copy: 'Copy',
    copyName: (name: string) => `Copy: ${name}`,
    save: 'Save',
    saveName: (name: string) => `Save: ${name}`,
    remove: 'Remove',
    removeName: (name: string) => `Remove: ${name}`,
    search: 'Search in recent items',
    notFound: 'No recent item has that in it.',
    text: 'A text',
    gone: 'It is no longer in the list.',
    announceForgotten: 'The recent items were forgotten',
  },

  few: { all: (count: number) => `All ${count}`, few: 'The newest only' },

  happened: {
    heading: 'What happened',
    none: 'Nothing yet since clipgate was started.',
    hint: 'In the memory of clipgate only, and never what was copied.',
    owner: 'This computer',
    other: 'Another device',
    unknown: 'unknown',
    things: { Text: 'a text', Image: 'an image', File: 'a file', Group: 'several files' },
    by: { start: 'at the start', command: 'with a command', panel: 'in the panel' },
    sentences: {
      pushed: ({ name, what }) => `${name} sent ${what}`,
      received: ({ name, what }) => `${name} sent ${what}`,
      copied: ({ what }) => `Copied on this computer: ${what}`,
      paired: ({ name, by }) => `${name} was added ${by}`,
      rotated: ({ name, by }) => `${name} got a new password ${by}`,
      ended: ({ name }) => `The password of ${name} has ended`,
      revoked: ({ name, by }) => `${name} was removed ${by}`,
      connected: ({ name, address }) => `${name} logged in from a new address: ${address}`,
      refused: ({ name, times, address }) =>
        `${countOf(times, 'login')} as ${name} refused: the password; from ${address}`,
      paused: ({ until }) => (until === null ? 'Sharing paused' : `Sharing paused until ${until}`),
      resumed: () => 'Sharing goes on',
    } as Readonly<Record<HappeningKind, (told: Told) => string>>,
  },

  pause: {
    heading: 'Sharing',
    on: 'What you copy on this computer is shared with your devices, and what they push is put on its clipboard.',
    off: 'clipgate leaves the clipboard of this computer alone. Devices share with each other through it.',
    until: (clock: string) =>
      `Paused until ${clock}. What you copy stays on this computer; what devices push waits.`,
    open: 'Paused until you resume. What you copy stays on this computer; what devices push waits.',
    group: 'Pause sharing',
    choices: [
      { label: '10 min', name: 'Pause for 10 min', ms: 600_000 },
      { label: '1 hour', name: 'Pause for 1 hour', ms: 3_600_000 },
      { label: 'Until I resume', name: 'Pause until I resume', ms: null },
    ],
    resume: 'Resume now',
    announceOn: 'Sharing goes on',
    announceOff: 'Sharing is paused',
  },

  devices: {
    heading: 'Devices',
    add: 'Add a device',
    none: 'No device yet',
    noneHint: 'Add your phone: it takes one scan.',
    kinds: { phone: 'Phone', peer: 'Computer' },
    lastSeen: 'Last seen',
    never: 'never',
    app: 'App',
    address: 'Address',
    streams: 'Connections',
    unknown: '–',
    inactive: 'has no valid password',
    connected: 'listening now',
    rotate: 'New password',
    rotateName: (label: string) => `New password for ${label}`,
    revoke: 'Remove',
    revokeName: (label: string) => `Remove ${label}`,
    announceAdded: (label: string) => `${label} was added`,
    announceRemoved: (label: string) => `${label} was removed`,
  },

  daemon: {
    heading: 'This computer',
    mode: 'Runs',
    modes: { desktop: 'on this desktop', headless: 'without a desktop' },
    version: 'Version',
    started: 'Started',
    clipboard: 'Clipboard',
    clipboards: { x11: 'X11', wayland: 'Wayland', macos: 'macOS', windows: 'Windows' },
    listeners: { gateway: 'For phones', tls: 'For phones, HTTPS', control: 'This page' },
    fingerprint: 'Fingerprint',
    trust: 'Trust page',
    peer: 'Joined',
    peerStates: {
      stopped: 'not linked',
      connecting: 'connecting…',
      connected: 'connected',
      polling: 'connected, asked every 10 s',
      waiting: 'away, trying again',
      refused: 'does not let us in',
    },
    bus: 'Group',
    busStates: {
      connecting: 'connecting…',
      connected: 'connected',
      waiting: 'broker away, trying again',
    },
    busMembers: (n: number) => (n === 0 ? 'nobody else heard of lately' : `${n} other members`),
    busRefused: (n: number) => (n === 0 ? '' : `${n} signals were not sealed with our group key`),
    folder: 'Data folder',
    free: 'Free space',
    staged: 'Unfinished uploads',
    uploads: (n: number, size: string) => (n === 0 ? 'none' : `${n} (${size})`),
    signOut: 'Sign out all browsers',
  },

  add: {
    title: 'Add a device',
    intro:
      'The device gets a user name and a password of its own, so that you can remove it later without touching the others.',
    label: 'Name',
    labelHint: 'For you, to tell your devices apart.',
    placeholder: 'Phone',
    address: 'Address that the device will use',
    addressOnly: 'The device will use this address:',
    kinds: {
      lan: 'local network',
      overlay: 'overlay network or VPN',
      public: 'public address',
      loopback: 'this machine only',
    },
    likely: 'the usual choice',
    secure: 'HTTPS',
    trust:
      'The phone has to trust this computer before it scans the code. Open this page on it first: ',
    loopback: 'Only programs on this computer can reach this address; a phone cannot.',
    submit: 'Show QR code',
    cancel: 'Cancel',
  },

  pairing: {
    title: (label: string) => `Connect ${label}`,
    page: {
      scan: 'Scan it with the camera of the phone:',
      caption: 'it opens a page with the clipboard, and nothing has to be installed.',
      other: 'Show the code for an app',
    },
    app: {
      scan: 'Scan it inside the app,',
      caption:
        'one that opens clip:// connect links. Not with the camera app of the phone: it makes a web search of the link, and the password is in there.',
      other: 'Show the code for the camera',
    },
    qr: (label: string) => `QR code that connects ${label}`,
    hand: 'Or enter by hand',
    handHint: 'In other apps that speak the SyncClipboard protocol.',
    url: 'URL',
    username: 'User name',
    password: 'Password',
    reveal: 'Show password',
    conceal: 'Hide password',
    once: 'The password is shown this once. Closing forgets it.',
    copy: 'Copy link',
    copyHint:
      'The link holds the password. So that the copy does not reach your other devices, sharing pauses for a minute first.',
    copyHintPaused:
      'The link holds the password. Sharing is paused, so the copy stays on this computer.',
    copyHintHeadless: 'The link holds the password: paste it only where it belongs.',
    copied: 'Copied.',
    copiedPaused: 'Copied. Sharing is paused for a minute.',
    select: 'This browser does not let the page copy. The link is selected: press Ctrl+C or ⌘C.',
    link: 'Connect link',
    done: 'Done',
    test: 'Test from the phone',
    waiting: (label: string) => `Waiting for the first request of ${label}…`,
    waitingHint: 'Scan the code, or let the app connect once.',
    seen: (label: string) => `${label} is connected`,
    seenBy: (client: string, address: string) => `${client} asked from ${address}.`,
    seenPlain: 'Its first request has come.',
    refused: (username: string, address: string | null) =>
      `A login as ${username} was refused${address === null ? '' : ` (from ${address})`}: ` +
      'the password. Scan the code again, or copy the password once more.',
    slow: 'Nothing yet? Check these:',
    checks: [
      'Phone and computer are in the same network: the same Wi-Fi, no guest network, no mobile data.',
      'The phone uses no VPN that keeps it from the local network.',
      'A firewall on this computer lets the port of the address through.',
      'The app knows the user name and the password exactly, and is set to “SyncClipboard server”.',
    ],
    probe: 'Open this in the browser of the phone; a page of clipgate means that the way is free: ',
    probeBare: 'Open this in the browser of the phone; when no error shows, the way is free: ',
    closeSure: (label: string) =>
      `${label} has not connected yet, and this code cannot be shown again.`,
    closeAnyway: 'Close all the same',
    keepOpen: 'Keep it open',
  },

  rotate: ({ label, streams }: Device) => ({
    title: `New password for ${label}?`,
    effects: [
      `The password that ${label} has now stops working at once.`,
      endOf(streams),
      'You get a new QR code. Until it is scanned, the device can neither read nor write the clipboard.',
    ],
    submit: 'Make new password',
  }),
  revoke: ({ label, streams }: Device) => ({
    title: `Remove ${label}?`,
    effects: [
      `The password of ${label} stops working at once.`,
      endOf(streams),
      'What it has received already stays on it. To come back it must be added again.',
    ],
    submit: 'Remove device',
  }),
  signOut: {
    title: 'Sign out all browsers?',
    effects: [
      'Every browser that is signed in to this panel is signed out, this one too.',
      'Devices are not affected. “clipgate panel” signs in again.',
    ],
    submit: 'Sign out',
  },
  announceAway: 'clipgate does not answer',
  announceBack: 'Connected to clipgate again',
}

export type Words = typeof english
