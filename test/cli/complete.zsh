# Prints what zsh would complete: zsh -f complete.zsh SCRIPT LINE. It needs a terminal to do so.

zmodload zsh/zpty
zpty terminal zsh -f -i
zpty -w terminal "PROMPT=; autoload -Uz compinit; compinit -D -u; source ${(q)1}"
zpty -w terminal 'compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-[OAD]\ * ]]; then builtin compadd "$@"; return; fi
  local -a matches; builtin compadd -A matches "$@"; print -l -- $'\''\nmatch '\''$^matches; builtin compadd "$@"
}'
zpty -w terminal 'comppostfuncs=(finish); finish() { print "\nfin""ished"; exit }'
zpty -w -n terminal "$2"$'\t'
zpty -r terminal answer '*finished*'
print -r -- "$answer"
zpty -d terminal
