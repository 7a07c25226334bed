/** Output of `longhaul completion`: shell scripts that call `longhaul complete` for each completion. */
import { PROGRAM_PATH, shellWord } from '../../platform/program.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Runs this installation by absolute paths, so that the shell needs neither PATH nor npm. */
const COMPLETE = `${shellWord(process.execPath)} ${shellWord(PROGRAM_PATH)} complete --`;

/** Words are passed to the program unchanged; typed text is never evaluated. */
const SCRIPTS: Record<(typeof SHELLS)[number], string> = {
  bash: `# bash completion for longhaul: source <(longhaul completion bash)
_longhaul() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o default 2>/dev/null
    else
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <(${COMPLETE} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null </dev/null)
}
complete -F _longhaul longhaul`,
  zsh: `#compdef longhaul
# zsh completion for longhaul: source <(longhaul completion zsh)
_longhaul() {
  local line
  local -a candidates
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      _files
      return
    fi
    candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <(${COMPLETE} "\${(@Q)words[2,CURRENT]}" 2>/dev/null </dev/null)
  (( $#candidates )) && _describe longhaul candidates
}
if [[ $funcstack[1] == _longhaul ]]; then
  _longhaul "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
  compdef _longhaul longhaul
fi`,
  fish: `# fish completion for longhaul: longhaul completion fish | source
function __longhaul_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l lines (${COMPLETE} $words[2..-1] "$current" 2>/dev/null </dev/null)
  if test "$lines[1]" = :files
    __fish_complete_path "$current"
  else if set -q lines[1]
    printf '%s\\n' $lines
  end
end
complete -c longhaul -e
complete -c longhaul -f -a '(__longhaul_complete)'`,
};

export function completionScript(shell: (typeof SHELLS)[number]): string {
  return SCRIPTS[shell];
}
