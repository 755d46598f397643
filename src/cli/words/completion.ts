/** `clipgate completion`: what completes commands and options, made from their table. @module */

import type { OptionSpec } from '../arguments.ts'
import type { Command, Invocation } from '../command.ts'
import { shownSettings } from './help.ts'
import { print } from '../shell.ts'

/** Values to choose from; none when anything may stand there. Names are those of a command. */
type Offer = readonly string[] | 'files' | 'folders' | Names
type Names = 'devices' | 'peers'

interface CompletedOption {
  readonly name: string
  readonly meaning: string
  readonly isList: boolean
  /** `undefined` for a flag, which takes no value. */
  readonly placeholder: string | undefined
  readonly values: Offer
}

interface CompletedCommand {
  readonly name: string
  readonly summary: string
  readonly operands: Offer
  /** Whether it takes several of them. */
  readonly isMany: boolean
  readonly options: readonly CompletedOption[]
  /** The options that a value follows. */
  readonly valued: string
}

type Commands = Readonly<Record<string, Command>>

/** Runs `clipgate completion`. */
export async function runCompletion(
  { shell, args }: Invocation,
  commands: Commands,
): Promise<number> {
  const [name] = args.operands
  const format = name === 'zsh' ? formatZsh : name === 'fish' ? formatFish : formatBash
  print(shell, format(readTable(commands)))
  return 0
}

function readTable(commands: Commands): readonly CompletedCommand[] {
  const names = Object.keys(commands)
  return Object.entries(commands).map(([name, command]) => {
    const [, operand = ''] = command.usage.split(' ')
    const specs = Object.entries({ ...command.options, ...shownSettings(name, command) })
    const options = specs.map(([option, spec]) => readOption(option, spec))
    const valued = options.filter(({ placeholder }) => placeholder !== undefined)
    return {
      name,
      summary: command.summary,
      operands: operand === '[COMMAND]' ? names : readOffer(operand),
      isMany: (command.operands?.[1] ?? 0) > 1,
      options,
      valued: valued.map((option) => `--${option.name}`).join(' '),
    }
  })
}

function readOption(
  name: string,
  { placeholder, meaning, isList = false }: OptionSpec,
): CompletedOption {
  return { name, meaning, isList, placeholder, values: readOffer(placeholder ?? '') }
}

/** Lower-case words stand for themselves, upper-case ones for values. */
function readOffer(word: string): Offer {
  if (/\bFILE\b/.test(word)) return 'files'
  if (word === 'DIR') return 'folders'
  if (word === 'ID') return 'devices'
  if (word === 'NAME') return 'peers'
  return /^[a-z\d|,]+$/.test(word) ? word.split(/[|,]/) : []
}

function isNames(offer: Offer): offer is Names {
  return offer === 'devices' || offer === 'peers'
}

function formatBash(commands: readonly CompletedCommand[]): string {
  return `# Completion in bash for clipgate; "clipgate completion bash" prints it.

_clipgate_words() {
  COMPREPLY=($(compgen -W "$1" -- "$word"))
}

_clipgate_paths() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$word"))
}

# Names come from outside: none is ever read as words of the shell.
_clipgate_names() {
  local name quoted typed
  while IFS= read -r name; do
    typed=$word
    printf -v quoted %q "$name"
    if [[ $word == [\\'\\"]* ]]; then
      # Within quotes nothing is quoted: plain names only.
      [[ $name == *[!A-Za-z0-9\\ ._-]* ]] || quoted=$name typed=\${word:1}
    fi
    [[ $quoted != "$typed"* ]] || COMPREPLY+=("$quoted")
  done < <(clipgate "$1" --names 2>/dev/null)
}

# Whether the one operand is there already; $1 has the options before a value.
_clipgate_is_full() {
  local at before
  for ((at = 2; at < COMP_CWORD; at++)); do
    before=\${COMP_WORDS[at - 1]}
    [[ \${COMP_WORDS[at]} == [-=]* || $before == = || " $1 " == *" $before "* ]] || return 0
  done
  return 1
}

_clipgate() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _clipgate_words '${commands.map(({ name }) => name).join(' ')}'
    return
  fi
  # "--option=value" comes as three words.
  if [[ $word == = ]]; then
    word=
  elif [[ $before == = ]]; then
    before=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case \${COMP_WORDS[1]} in
${commands.map(bashCase).join('\n')}
  esac
}

complete -F _clipgate clipgate`
}

function bashCase({ name, operands, isMany, options, valued }: CompletedCommand): string {
  const cases = options.flatMap(({ name, placeholder, values }) =>
    placeholder === undefined ? [] : [`        --${name}) ${bashOffer(values)}return ;;`],
  )
  const words = options.map((option) => `--${option.name}`).join(' ')
  const full = isMany ? '' : `_clipgate_is_full '${valued}' || `
  return [
    `    ${name})`,
    ...(cases.length > 0 ? ['      case $before in', ...cases, '      esac'] : []),
    ...(operands.length > 0
      ? [`      [[ $word == -* ]] || ${full}{ ${bashOffer(operands)}return; }`]
      : []),
    `      _clipgate_words '${words}' ;;`,
  ].join('\n')
}

function bashOffer(offer: Offer): string {
  if (offer === 'files') return '_clipgate_paths -f; '
  if (offer === 'folders') return '_clipgate_paths -d; '
  if (isNames(offer)) return `_clipgate_names ${offer}; `
  return offer.length > 0 ? `_clipgate_words '${offer.join(' ')}'; ` : ''
}

function formatZsh(commands: readonly CompletedCommand[]): string {
  const described = commands.map(({ name, summary }) => `      '${name}:${zshText(summary)}'`)
  return `#compdef clipgate
# Completion in zsh for clipgate; "clipgate completion zsh" prints it.

_clipgate_names() {
  local -a names=(\${(f)"$(clipgate $1 --names 2>/dev/null)"})
  compadd -a names
}

_clipgate() {
  if ((CURRENT == 2)); then
    local -a commands=(
${described.join('\n')}
    )
    _describe -t commands command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
${commands.map(zshCase).join('\n')}
  esac
}

# Read from $fpath this is the body of the function itself.
if [[ $funcstack[1] == _clipgate ]]; then
  _clipgate "$@"
else
  compdef _clipgate clipgate
fi`
}

function zshCase({ name, operands, isMany, options }: CompletedCommand): string {
  const specs = options.map(({ name, meaning, isList, placeholder, values }) => {
    const value = placeholder === undefined ? '' : `:${zshText(placeholder)}:${zshAction(values)}`
    const mark = placeholder === undefined ? '' : '='
    return `'${isList ? '*' : ''}--${name}${mark}[${zshText(meaning)}]${value}'`
  })
  const operand =
    operands.length > 0 ? [`'${isMany ? '*' : '1'}:argument:${zshAction(operands)}'`] : []
  const lines = [...specs, ...operand].map((spec) => ` \\\n        ${spec}`)
  return `    ${name})\n      _arguments${lines.join('')} ;;`
}

function zshAction(offer: Offer): string {
  if (offer === 'files') return '_files'
  if (offer === 'folders') return '_directories'
  if (isNames(offer)) return ` _clipgate_names ${offer}`
  return offer.length > 0 ? `(${offer.join(' ')})` : ' '
}

/** Text within single quotes, in which brackets and colons are punctuation of zsh. */
function zshText(text: string): string {
  return text.replace(/[\\[\]:]/g, '\\$&').replaceAll("'", "'\\''")
}

function formatFish(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name, summary }) =>
    fishLine('test (count (commandline -opc)) -eq 1', [`-a ${name}`, `-d ${fishText(summary)}`]),
  )
  return `# Completion in fish for clipgate; "clipgate completion fish" prints it.

function __clipgate_runs
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"
end

# Whether the one operand of a command is not there yet; options before a value follow its name.
function __clipgate_lacks
    __clipgate_runs $argv[1]; or return
    set -l before
    for word in (commandline -opc)[3..]
        string match -q -- '-*' $word; or contains -- "$before" $argv[2..]; or return 1
        set before $word
    end
    true
end

complete -c clipgate -f
${[...names, ...commands.flatMap(fishLines)].join('\n')}`
}

function fishLines(command: CompletedCommand): readonly string[] {
  const { name, operands, isMany, options, valued } = command
  const condition = `__clipgate_runs ${name}`
  const lines = options.map(({ name, meaning, placeholder, values }) => {
    const value = placeholder === undefined ? [] : fishOffer(values, '-x')
    return fishLine(condition, [`-l ${name}`, ...value, `-d ${fishText(meaning)}`])
  })
  if (operands.length === 0) return lines
  const lacks = isMany ? condition : `__clipgate_lacks ${name} ${valued}`
  return [...lines, fishLine(lacks, fishOffer(operands, '-f'))]
}

/** @param only Says that no file belongs there. */
function fishOffer(offer: Offer, only: '-x' | '-f'): readonly string[] {
  if (offer === 'files') return only === '-x' ? ['-r', '-F'] : ['-F']
  if (offer === 'folders') return [only, `-a '(__fish_complete_directories)'`]
  if (isNames(offer)) return [only, `-a '(clipgate ${offer} --names 2>/dev/null)'`]
  return offer.length > 0 ? [only, `-a '${offer.join(' ')}'`] : [only]
}

function fishLine(condition: string, words: readonly string[]): string {
  return `complete -c clipgate -n '${condition}' ${words.join(' ')}`
}

function fishText(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
