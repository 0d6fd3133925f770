"""``bayplan completion``: a script that teaches a shell to complete our commands.  ``completions`` has the answers."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from bayplan.cli.output import write

EXAMPLES = """\
source <(bayplan completion bash)              # this shell; or in ~/.bashrc
bayplan completion zsh > "${fpath[1]}/_bayplan"
bayplan completion fish > ~/.config/fish/completions/bayplan.fish
"""

# bash takes what stands behind the last : or = as the word that it completes.
_BASH = r"""_bayplan() {
    local line=${COMP_LINE:0:COMP_POINT} value about
    local kept=${line##*[[:space:]]}
    kept=${kept%"${kept##*[:=]}"}
    COMPREPLY=()
    while IFS=$'\t' read -r value about; do
        if [[ $value == :files ]]; then
            compopt -o default -o bashdefault
        elif [[ -n $value ]]; then
            [[ $value == *[/:=] ]] && compopt -o nospace
            if [[ $value == "$kept"* ]]; then COMPREPLY+=("${value#"$kept"}"); else COMPREPLY+=("$value"); fi
        fi
    done < <("$1" __complete "$line" 2>/dev/null)
}
complete -F _bayplan bayplan
"""

_ZSH = r"""#compdef bayplan
_bayplan() {
    local value about
    local -a open closed
    while IFS=$'\t' read -r value about; do
        case $value in
            :files) [[ $PREFIX == -*=* ]] && compset -P '*='; _files ;;
            */|*:|*=) open+=("$value") ;;
            ?*) closed+=("${value//:/\\:}:$about") ;;
        esac
    done < <(bayplan __complete "${(j: :)words[1,CURRENT]}" 2>/dev/null)
    (( $#open )) && compadd -S '' -- $open
    (( $#closed )) && _describe 'bayplan' closed
}
if [ "$funcstack[1]" = "_bayplan" ]; then _bayplan; else compdef _bayplan bayplan; fi
"""

_FISH = r"""function __bayplan_complete
    for each in (bayplan __complete (commandline -cp) 2>/dev/null)
        if test (string split \t -- $each)[1] = :files
            set -l word (string split -m 1 = -- (commandline -ct))
            if set -q word[2]; and string match -q -- '-*' $word[1]
                __fish_complete_path $word[2] | string replace -r -- '^' "$word[1]="
            else
                __fish_complete_path (commandline -ct)
            end
        else
            echo $each
        end
    end
end
complete -c bayplan -f -a '(__bayplan_complete)'
"""


class Shell(StrEnum):
    """The shells there is a script for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


_SCRIPTS = {Shell.BASH: _BASH, Shell.ZSH: _ZSH, Shell.FISH: _FISH}


def completion(shell: Annotated[Shell, typer.Argument(metavar="bash|zsh|fish", help="Which shell it is for.")]) -> int:
    """
    Print a script that teaches a shell to complete commands, options and values.

    Commands, options, file names, workloads of bench, classes in plugin files, and for explain kinds and the names in
    the files of -f.
    """
    write(_SCRIPTS[shell])
    return 0


def complete(context: typer.Context, line: str) -> int:
    """What could be typed next; the scripts above ask."""
    from bayplan.cli import completions

    found = completions.complete(context.find_root().command, line)
    write("".join(f"{value}\t{about}\n" for value, about in found))
    return 0
