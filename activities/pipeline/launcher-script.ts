/** Maximum number of reads of the step's output that go into one file of the spool, and their maximum size in bytes. */
const READS_PER_FILE = 4_096;
const READ_BYTES = 512;

/** Maximum number of files in the spool: 64 MiB of output wait for a worker at most, or less if it comes in small pieces. */
const SPOOL_FILES = 32;

/** The file that a launcher makes before anything else. */
export const FIRST_LAUNCHER_FILE = 'how';

/** Where the launcher reserves the space of `exit.json`, and writes it. A launcher that is killed leaves it. */
export const EXIT_RESERVE_FILE = 'exit.tmp';

/**
 * Descriptor of the launcher that is open on that file for all of its life, and in no other process: a launcher is recognized by it.
 * Descriptor 2 won't do: bash redirects its own for a moment when a builtin such as `kill` has a redirection.
 */
export const LAUNCHER_DESCRIPTOR = 6;

/**
 * The launcher: a small bash that a step's script runs under. It belongs to the host and outlives its worker. In the run's folder
 * it leaves what the next worker needs to take the step over: the output in `spool/`, its PIDs in `launcher.json`, how the step ended
 * in `exit.json`.
 *
 * - SIGTERM asks it to end the step. The sender renames `running` to `stopped-CAUSE` before: only one can, and it works on a
 *   full disk.
 * - It keeps the step's time-out and the grace period itself, and ends the step if the run's folder is removed.
 * - The step's output goes through a relay, see {@link RELAY_SCRIPT}. It also gives the step a real pipe: opening /dev/stderr would
 *   cut a file short.
 * - The space of `launcher.json` and `exit.json` is reserved before the step starts: a full disk doesn't lose them.
 * - bash prints on descriptor 2 that a signal ended the step's shell, if it runs a file itself; an exit code of 128 and more alone
 *   may also come from an `exit`.
 * - A step has a lower priority than its worker, where the system has `nice`.
 * - PATH may be the step's own: what the launcher itself calls is found on the worker's.
 * - The step enters its cgroup before it runs anything. If the launcher is a subreaper instead, orphans of the step are its children,
 *   in other process groups than its own, and end with the step.
 *
 * Arguments: folder of the run, which holds `script.sh`, `running` and `spool/`; tenths of a second between SIGTERM and SIGKILL; tenths of
 * a second until the step's time-out, or 0; 1 if the step ends with its worker, which holds the pipe to standard input then;
 * PATH of the worker; umask of the step; path of its cgroup, or empty.
 */
export const LAUNCHER_SCRIPT = String.raw`
set +o posix
umask 077
folder=$1 grace=$2 timeout=$3 dies=$4 tools=$5 umask=$6 cgroup=$7
exec 3<&0 </dev/null 5>&2 2>"$folder/${FIRST_LAUNCHER_FILE}" ${LAUNCHER_DESCRIPTOR}>&2 || exit 1
for file in launcher.json ${EXIT_RESERVE_FILE}; do printf '%512s' '' >"$folder/$file" || exit 1; done

exec 4> >(
  unset LONGHAUL_STEP_ID
  trap '' PIPE TERM INT HUP
  # Not a copy of this process, whose environment would still show the variable.
  PATH=$tools exec "$BASH" -p "$folder/relay.sh" "$folder" 3<&- 5>&- ${LAUNCHER_DESCRIPTOR}>&- 2>/dev/null
)
exec >/dev/null
set -m
nice=$(PATH=$tools type -P nice)
if [ -n "$nice" ]; then set -- "$nice" -n 5; else set --; fi
(
  umask "$umask"
  [ -z "$cgroup" ] || { echo 0 >"$cgroup/cgroup.procs"; } 2>/dev/null
  exec "$@" "$BASH" --noprofile --norc -eo pipefail "$folder/script.sh"
) 3<&- 5>&- ${LAUNCHER_DESCRIPTOR}>&- >&4 2>&4 4>&- &
step=$!

stop() {
  PATH=$tools mv "$folder/running" "$folder/stopped-outside" 2>/dev/null
  if [ -z "$ender" ]; then end_group "$grace" & ender=$!; fi
}
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
end_orphans() {
  local tries pid stat children orphans
  for ((tries = 250; tries > 0; tries--)); do
    children= orphans=
    read -r children 2>/dev/null <"/proc/$$/task/$$/children"
    for pid in $children; do
      stat=
      read -r stat 2>/dev/null <"/proc/$pid/stat"
      set -- ${'$'}{stat##*) }
      [ "$3" = "$$" ] || orphans="$orphans $pid"
    done
    [ -n "$orphans" ] || break
    kill -KILL $orphans 2>/dev/null
    PATH=$tools sleep 0.02
  done
}
started_at() {
  local stat
  read -r stat 2>/dev/null <"/proc/$1/stat" || return 0
  set -- ${'$'}{stat##*) }
  printf %s "${'$'}{20}"
}
trap stop TERM INT HUP
trap '' PIPE
exec 4>&-
boot=
[ ! -r /proc/sys/kernel/random/boot_id ] || read -r boot </proc/sys/kernel/random/boot_id
printf '{"boot":"%s","launcher":%s,"launcherStartedAt":"%s","step":%s,"stepStartedAt":"%s"}' \
  "$boot" "$$" "$(started_at $$)" "$step" "$(started_at "$step")" 1<>"$folder/launcher.json"
printf 'started\n' >&5
(
  PATH=$tools left=$timeout
  while :; do
    pause=$((timeout > 0 && left < 100 ? left : 100))
    sleep "$((pause / 10)).$((pause % 10))"
    left=$((left - pause))
    [ -e "$folder/running" ] && kill -0 $$ 2>/dev/null || break
    if [ "$timeout" -gt 0 ] && [ "$left" -le 0 ]; then mv "$folder/running" "$folder/stopped-timeout" && break; fi
  done
  [ -e "$folder/over" ] || kill -TERM $$
) 3<&- 5>&- ${LAUNCHER_DESCRIPTOR}>&- &
watchers=$!
if [ "$dies" = 1 ]; then
  (
    unset TMOUT
    read -r _ <&3
    PATH=$tools mv "$folder/running" "$folder/stopped-worker" && kill -TERM $$
  ) 5>&- ${LAUNCHER_DESCRIPTOR}>&- &
  watchers="$watchers $!"
fi
exec 3<&-
set +m

# A wait returns early for a signal, and when the shell is merely stopped.
until wait "$step"; code=$?; ! kill -0 "$step" 2>/dev/null; do PATH=$tools sleep 0.1; done
wait "$step" 2>/dev/null
last=$?
[ "$last" = 127 ] || code=$last
PATH=$tools mv "$folder/running" "$folder/over" 2>/dev/null
for watcher in $watchers; do kill -KILL -- "-$watcher" 2>/dev/null; done
cause=
for file in "$folder"/stopped-*; do [ ! -e "$file" ] || cause=${'$'}{file##*/stopped-}; done
if [[ $(<"$folder/how") == *" $step "* ]]; then how="\"signal\":\"SIG$(kill -l "$code")\""; else how="\"exitCode\":$code"; fi
record="{$how${'$'}{cause:+,\"stopped\":\"$cause\"},\"endedAt\":\"$(PATH=$tools date -u +%Y-%m-%dT%H:%M:%SZ)\"}"
(
  PATH=$tools
  while [ -d "$folder" ]; do
    printf '%s' "$record" 1<>"$folder/${EXIT_RESERVE_FILE}" && sync "$folder/${EXIT_RESERVE_FILE}" &&
      mv "$folder/${EXIT_RESERVE_FILE}" "$folder/exit.json" && sync "$folder" && break
    sleep 1
  done
)
printf 'ended %s\n' "$record" >&5
if [ -n "$ender" ]; then wait "$ender"; else end_group "$((grace < 20 ? grace : 20))"; fi
end_orphans
`;

/** Name of the launcher in the run's folder. */
export const LAUNCHER_FILE = 'launcher.sh';

/**
 * The relay between a step and the spool. It reserves a file's space before it takes output from the step, and takes none while too
 * many files wait for a worker, and gives back the space that a file doesn't need: on a full disk, and during a long absence of workers, the step waits in its next write, and no
 * output is lost. It renames `open` to `waiting` while it waits for space. Without `fallocate`, a full disk costs up to one read.
 *
 * - Its environment doesn't have LONGHAUL_STEP_ID, so that it isn't killed as a process of the step: it ends when no writer is left.
 * - A file is the last one if `dd` makes fewer reads than it may. GNU's prints a warning about short reads before the counts.
 *
 * Argument: folder of the run.
 */
export const RELAY_SCRIPT = String.raw`
export LC_ALL=C
spool=$1/spool at=0
reserve_space() {
  local refusal
  while ! refusal=$( (: >>"$1" && exec fallocate -n -l ${READS_PER_FILE * READ_BYTES} "$1") 2>&1); do
    case $refusal in *'No space'* | *'quota'*) ;; *) return ;; esac
    [ ! -e "$spool/open" ] || mv "$spool/open" "$spool/waiting"
    sleep 1
  done
  [ ! -e "$spool/waiting" ] || mv "$spool/waiting" "$spool/open"
}
while [ -d "$spool" ]; do
  while [ -e "$spool/$((at - ${SPOOL_FILES}))" ]; do sleep 0.1; done
  reserve_space "$spool/$at"
  if report=$(dd bs=${READ_BYTES} count=${READS_PER_FILE} 2>&1 >>"$spool/$at"); then
    [[ $report =~ ([0-9]+)\+([0-9]+)\ records\ in ]] &&
      ((BASH_REMATCH[1] + BASH_REMATCH[2] < ${READS_PER_FILE})) && break
    truncate -s +0 "$spool/$at"
    at=$((at + 1))
  else sleep 0.1; fi
done
mv "$spool/open" "$spool/ended"
exec cat >/dev/null
`;

/** Name of the relay in the run's folder. */
export const RELAY_FILE = 'relay.sh';
