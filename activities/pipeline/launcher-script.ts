/** Time without a line from its worker after which a launcher ends its step; shorter than the heartbeat time-out of 120 s. */
const SIGN_OF_LIFE_LIMIT_SECONDS = 90;

/**
 * The launcher: a small bash between a worker and a step's script. It holds a pipe from the worker on its standard
 * input; when that closes, however the worker ended, or brings no line for 90 s, since the worker hangs, it ends the
 * step. It journals how the step ended in the run's folder, and reports it on what was descriptor 2.
 *
 * - The step's output goes through a relay, not straight to the worker: once the worker is gone, writing would fail,
 *   and a step that ignores that could continue with wrong results and even exit with 0. The relay drains it
 *   instead. It also gives the step a real pipe (Node's are sockets, which /dev/stderr can't open). Its environment
 *   doesn't have LONGHAUL_STEP_ID: it ends when no writer is left.
 * - The file `running` is renamed, and not another one made, to say that the step was stopped: that also works on a
 *   full disk.
 * - bash prints on descriptor 2 that a signal ended the step's shell, if it runs a file itself; an exit code of 128 and
 *   more alone may also come from an `exit`.
 * - A step has a lower priority than its worker, where the system has `nice`.
 * - PATH may be the step's own: what the launcher itself calls is found on the worker's.
 *
 * Arguments: folder of the run, which holds `script.sh`; tenths of a second between SIGTERM and SIGKILL; PATH of the
 * worker; umask of the step.
 */
export const LAUNCHER_SCRIPT = String.raw`
set +o posix
folder=$1 grace=$2 tools=$3 umask=$4
exec 3<&0 </dev/null 5>&2 2>"$folder/how" || exit 1
: >"$folder/running" || exit 1
exec 4> >(
  unset LONGHAUL_STEP_ID
  PATH=$tools exec "$BASH" -p -c 'trap "" PIPE; cat; exec cat >/dev/null' 3<&- 5>&- 2>/dev/null
)
exec >/dev/null
set -m
nice=$(PATH=$tools type -P nice)
if [ -n "$nice" ]; then set -- "$nice" -n 5; else set --; fi
(umask "$umask"; exec "$@" "$BASH" --noprofile --norc -eo pipefail "$folder/script.sh") 3<&- 5>&- >&4 2>&4 4>&- &
step=$!
set +m
exec 4>&-
trap '' PIPE
printf '{"launcher":%s,"step":%s}' "$$" "$step" >"$folder/launcher.json"

is_gone_within() {
  local tenths=$1
  while kill -0 -- "-$step" 2>/dev/null; do
    [ "$tenths" -gt 0 ] || return 1
    PATH=$tools sleep 0.1
    tenths=$((tenths - 1))
  done
}
end_group() {
  kill -TERM -- "-$step" 2>/dev/null || return 0
  is_gone_within "$1" || kill -KILL -- "-$step" 2>/dev/null
}
(
  unset TMOUT
  while read -t ${SIGN_OF_LIFE_LIMIT_SECONDS} -r _; do :; done <&3
  PATH=$tools mv "$folder/running" "$folder/stopped"
  end_group "$grace"
) &
watch=$!
exec 3<&-

# It also returns when the shell is merely stopped.
while wait "$step"; code=$?; kill -0 "$step" 2>/dev/null; do PATH=$tools sleep 0.1; done
if [ -e "$folder/stopped" ]; then stopped=true; else stopped=false; fi
if [[ $(<"$folder/how") == *" $step "* ]]; then how="\"signal\":\"SIG$(kill -l "$code")\""; else how="\"exitCode\":$code"; fi
record="{$how,\"stopped\":$stopped,\"endedAt\":\"$(PATH=$tools date -u +%Y-%m-%dT%H:%M:%SZ)\"}"
PATH=$tools
printf '%s' "$record" >"$folder/exit.tmp" && sync "$folder/exit.tmp" &&
  mv "$folder/exit.tmp" "$folder/exit.json" && sync "$folder"
printf 'ended %s\n' "$record" >&5
if $stopped; then
  wait "$watch"
else
  kill -KILL "$watch"
  end_group "$((grace < 20 ? grace : 20))"
fi
`;

/** Name of the launcher in the run's folder. */
export const LAUNCHER_FILE = 'launcher.sh';
