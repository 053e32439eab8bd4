# completion.zsh DIRECTORY - answers lines by zsh's completion: for completion_test.sh. It reads
# DIRECTORY/queries, and appends to DIRECTORY/zsh a line "== QUERY" and the words offered for it.
#
# Completion is the line editor's, which needs a terminal: `zsh completion.zsh DIRECTORY` opens one
# and reads itself there.
if [[ -z $REDLOCK_INSIDE ]]; then
    zmodload zsh/zpty || exit 1
    export REDLOCK_INSIDE=$1
    zpty shell 'TERM=vt100 zsh -f -i'
    zpty -w shell "source ${(q)0:A}"
    repeat 400; do [[ -e $1/zsh.ready ]] && break; sleep 0.05; done
    zpty -w -n shell $'\x14'
    repeat 400; do [[ -e $1/zsh.over ]] && exit 0; sleep 0.05; done
    exit 1
fi

fpath=($REDLOCK_COMPLETION/zsh $fpath)
autoload -Uz compinit
compinit -u -D
unsetopt autolist automenu
compadd() { # whoever only asks what matches gets it elsewhere
    local -a offered
    case " $* " in
    *' -O '* | *' -A '* | *' -D '*) builtin compadd "$@"; return ;;
    esac
    builtin compadd -O offered "$@"
    print -rl -- $offered >>$REDLOCK_INSIDE/zsh
    builtin compadd "$@"
}
zle -C everything complete-word _main_complete
answer() {
    local query
    for query in "${(@f)$(<$REDLOCK_INSIDE/queries)}"; do
        print -r -- "== $query" >>$REDLOCK_INSIDE/zsh
        BUFFER=$query CURSOR=$#query
        zle everything
    done
    BUFFER=
    : >$REDLOCK_INSIDE/zsh.over
}
zle -N answer
bindkey '^T' answer
: >$REDLOCK_INSIDE/zsh.ready
