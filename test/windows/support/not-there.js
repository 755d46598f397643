/**
 * The tests of other rooms that are left out below Wine, by what is not there.
 *
 * Those that end with "(Wine)" are Wine's fault; the rest is not on Windows at all.
 * @module
 */

/**
 * By reason and file, the sentences of the tests; none means the whole file.
 *
 * @type {Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>}
 */
export const NOT_THERE = {
  'Windows has no modes of files': {
    'cli/admin-commands': ['say that a file holds a password now, and whether others can read it'],
    'cli/panel': ['replaces the file of the last time'],
    'cli/pull-push': ['remember the server, but not the link, in a private file'],
    'devices/json-device-registry': [
      'keeps no password, and lets nobody else read what it keeps',
      'is taken away from other users, who could read it',
    ],
    'storage/data-directory': [
      'makes private folders under the umask 0',
      'makes private folders under the umask 22',
      'makes private folders under the umask 777',
      'takes folders away from other users',
      'refuses a folder that everybody shares, and leaves its mode alone',
    ],
    'storage/disk-blob-store': ['are private files of random names, whatever the umask'],
    'storage/disk-latest-item': ['is private, and made private again'],
    'storage/private-file': ['is for its owner alone, and leaves nothing beside it'],
  },
  'Windows ends a program at once that another one sends a signal': {
    'cli/doctor': ['gives its device back when it is interrupted'],
    'cli/main': [
      'leaves nothing behind when it is interrupted, and ends as the signal has it',
      'exits with 0 when it is told to stop',
    ],
    'cli/serve': [
      'says when it is ready, where, and as what',
      'stops for each of its signals',
      'ends at the second signal, whatever is in flight',
      'goes on when nobody reads its output any more',
      'tells who was paired, rotated and shut out, from where they came, and when it ran',
      'work on it while it runs, at once, and without it the same',
    ],
  },
  'a lock is judged there by the file that its holder has open': {
    'storage/lock': [
      'is left alone when its process says that it began later than others see',
      'is left alone when it is one of another machine, which is named',
      'is not taken over while another machine takes it over, and says which file it is',
      'is not taken from a program that is just taking it over',
    ],
  },
  'which boot of a machine it is cannot be asked there': {
    'storage/partial-uploads': ['is what the file has when the daemon died'],
  },
  'esbuild of this machine cannot run there': {
    'cli/old-node': [],
    'gateway/phone-page': ['takes at most 34 kB, all of it, as it travels, and 60 kB as it is shipped'],
  },
  'the programs that are called are made up by shell scripts': {
    'cli/service': [],
    'storage/windows-rights': [],
    'cli/panel': [
      'opens a private file that leads to the panel: no token is an argument',
      'gives a browser in a sandbox the file where that one reads',
    ],
  },
  'a closed socket keeps its port for a moment (Wine)': {
    'http/server': ['comes back by itself when its socket is lost'],
  },
  'paths of a thousand letters cannot be listed (Wine)': {
    'storage/copied-tree': ['may have names of so many bytes, and no more'],
  },
  'each file of a folder takes as long as all before it (Wine)': {
    'storage/copied-tree': ['may be so many files and folders, and no more'],
  },
  'Wine makes no symbolic links (Wine)': {
    'cli/pull-push': ['refuse to replace a file, and leave nothing half done'],
    'devices/json-device-registry': ['is refused when it is no file at all'],
    'storage/copied-tree': [
      'is not what a link leads to that took the place of a folder meanwhile',
      'may be reached through links, which are not asked again',
    ],
    'storage/data-directory': [
      'can be reached through a link, and says where it really is',
      'removes what an earlier run left unfinished, and nothing else',
      'refuses files and links in its place, above it, or where its folders belong',
    ],
    'storage/disk-blob-store': ['may be reached through links'],
    'storage/disk-latest-item': [
      'is not read through a link that took the place of its bytes',
      'when it is a link',
    ],
    'storage/disk-staging-area': ['what is not ours stays, and is not followed'],
    'storage/lock': ['is refused when it is a link or a folder'],
    'storage/private-file': ['follows no link'],
    'storage/without-links': [
      'lists no folder that a link leads to, wherever on the way it is',
    ],
  },
}
