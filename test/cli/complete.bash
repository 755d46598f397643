# Prints what bash would complete: bash complete.bash SCRIPT WORD... The last word is being typed.

source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_clipgate
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
