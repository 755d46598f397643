/** The manual page, made from the tables of commands and settings. @module */

import { readVersion } from '../daemon/version.ts'
import type { OptionSpec } from './arguments.ts'
import type { Command } from './command.ts'
import { EXIT_CODES, explanationOf, SETTING_NOTES } from './explanations.ts'
import { SETTING_OPTIONS } from './setting-options.ts'

/** Formats a page of section 1, for the macros that troff calls `man`. */
export function formatManPage(commands: Readonly<Record<string, Command>>): string {
  return [
    `.TH CLIPGATE 1 "" "clipgate ${readVersion()}" "User Commands"`,
    '.SH NAME',
    'clipgate \\- one clipboard across desktop and phone',
    '.SH SYNOPSIS',
    '.B clipgate',
    '.I COMMAND',
    '[\\fIOPTIONS\\fR]',
    '.SH DESCRIPTION',
    plain(DESCRIPTION),
    '.SH COMMANDS',
    ...Object.values(commands).flatMap((command) => [
      `.SS "${plain(command.usage)}"`,
      plain(explanationOf(command)),
      ...Object.entries(command.options).flatMap(describe),
    ]),
    '.SH SETTINGS',
    plain(SETTING_NOTES),
    ...Object.entries(SETTING_OPTIONS).flatMap(describe),
    '.SH EXIT STATUS',
    plain(EXIT_CODES),
    '.SH FILES',
    ...FILES.flatMap(([path, meaning]) => item(`\\fI${plain(path)}\\fR`, meaning)),
  ].join('\n')
}

const DESCRIPTION =
  'A small daemon on the desktop serves phones on the local network: what is copied here is pasted ' +
  'there, and back. It speaks the protocol of SyncClipboard. Start with "clipgate serve".'

const FILES: readonly (readonly [string, string])[] = [
  ['~/.config/clipgate/config.json', 'The settings, as one JSON object.'],
  ['~/.local/state/clipgate/', 'The data directory: devices, and the current item.'],
]

function describe([name, { placeholder, meaning }]: readonly [
  string,
  OptionSpec,
]): readonly string[] {
  const value = placeholder === undefined ? '' : ` \\fI${plain(placeholder)}\\fR`
  const sentence = `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.`
  return item(`\\fB${plain(`--${name}`)}\\fR${value}`, sentence)
}

function item(term: string, text: string): readonly string[] {
  return ['.TP', term, plain(text)]
}

/** Text without anything that troff would obey, the dots and quotes that begin a line included. */
function plain(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replace(/^[.']/, '\\&$&')
}
