#!/usr/bin/env bash
# The launcher: a small bash that runs a step's script. It belongs to the host and outlives its worker. It leaves what the next
# worker needs in the run's folder: the output in `spool/`, its PIDs in `launcher.json`, and the step's end in `exit.json`.
#
# - SIGTERM asks it to end the step. The sender first renames `running` to `stopped-CAUSE`: only one can, even on a full disk.
# - It keeps the step's timeout and grace period itself, and ends the step if the run's folder is removed.
# - The step's output goes through relay.sh, a real pipe: a step that opens /dev/stderr would cut a file short.
# - It reserves the space of `launcher.json` and `exit.json` before the step starts, so a full disk doesn't lose them.
# - bash prints on descriptor 2 when a signal ended the step's shell, if it runs a file itself. An exit code of 128 and more
#   isn't enough, because it may come from an `exit`.
# - A worker recognizes the launcher by descriptor 6, which it alone keeps open on `how` all its life. Descriptor 2 won't do:
#   bash redirects its own for a moment when a builtin such as `kill` has a redirection.
# - A step has a lower priority than its worker, where the system has `nice`.
# - PATH may be the step's own, so the launcher finds its own tools on the worker's PATH.
# - The step enters its cgroup before it runs anything. Without one, the launcher may be a subreaper: the step's orphans are then
#   its children, in other process groups than its own, and end with the step.
#
# Arguments: folder of the run, with `script.sh`, `relay.sh`, `running` and `spool/`; tenths of a second between SIGTERM and
# SIGKILL; tenths of a second until the step's timeout, or 0; 1 if the step ends with its worker, which then holds the pipe to
# standard input; PATH of the worker; umask of the step; path of its cgroup, or empty.

set +o posix
umask 077
exec 3<&0 </dev/null 5>&2 2>"$1/how" 6>&2 || exit 1
printf '%512s' '' >"$1/launcher.json" && printf '%512s' '' >"$1/exit.tmp" || exit 1

# Set no variable before the step runs: it would change one of the same name in the step's environment.
exec 4> >(
  unset LONGHAUL_STEP_ID
  trap '' PIPE TERM INT HUP
  # Not a fork of this process: its environment would still show the variable.
  PATH=$5 exec "$BASH" -p "$1/relay.sh" "$1" 3<&- 5>&- 6>&- 2>/dev/null
)
exec >/dev/null
set -m
set -- "$@" "$(PATH=$5 type -P nice)"
(
  umask "$6"
  [ -z "$7" ] || { echo 0 >"$7/cgroup.procs"; } 2>/dev/null
  exec ${8:+"$8" -n 5} "$BASH" --noprofile --norc -eo pipefail "$1/script.sh"
) 3<&- 5>&- 6>&- >&4 2>&4 4>&- &
step=$! ender=''
folder=$1 grace=$2 timeout=$3 dies=$4 tools=$5

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
    children='' orphans=()
    read -r children 2>/dev/null <"/proc/$$/task/$$/children"
    for pid in $children; do
      stat=''
      read -r stat 2>/dev/null <"/proc/$pid/stat"
      # shellcheck disable=SC2086
      set -- ${stat##*) }
      [ "$3" = "$$" ] || orphans+=("$pid")
    done
    [ "${#orphans[@]}" -gt 0 ] || break
    kill -KILL "${orphans[@]}" 2>/dev/null
    PATH=$tools sleep 0.02
  done
}
started_at() {
  local stat
  read -r stat 2>/dev/null <"/proc/$1/stat" || return 0
  # shellcheck disable=SC2086
  set -- ${stat##*) }
  printf %s "${20}"
}
trap stop TERM INT HUP
trap '' PIPE
exec 4>&-
boot=''
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
    { [ -e "$folder/running" ] && kill -0 $$ 2>/dev/null; } || break
    if [ "$timeout" -gt 0 ] && [ "$left" -le 0 ]; then mv "$folder/running" "$folder/stopped-timeout" && break; fi
  done
  [ -e "$folder/over" ] || kill -TERM $$
) 3<&- 5>&- 6>&- &
watchers=$!
if [ "$dies" = 1 ]; then
  (
    unset TMOUT
    read -r _ <&3
    PATH=$tools mv "$folder/running" "$folder/stopped-worker" && kill -TERM $$
  ) 5>&- 6>&- &
  watchers="$watchers $!"
fi
exec 3<&-
set +m

# A wait returns early for a signal, and when the shell is only stopped.
until wait "$step"; code=$?; ! kill -0 "$step" 2>/dev/null; do PATH=$tools sleep 0.1; done
wait "$step" 2>/dev/null
last=$?
[ "$last" = 127 ] || code=$last
PATH=$tools mv "$folder/running" "$folder/over" 2>/dev/null
for watcher in $watchers; do kill -KILL -- "-$watcher" 2>/dev/null; done
cause=''
for file in "$folder"/stopped-*; do [ ! -e "$file" ] || cause=${file##*/stopped-}; done
if [[ $(<"$folder/how") == *" $step "* ]]; then how="\"signal\":\"SIG$(kill -l "$code")\""; else how="\"exitCode\":$code"; fi
record="{$how${cause:+,\"stopped\":\"$cause\"},\"endedAt\":\"$(PATH=$tools date -u +%Y-%m-%dT%H:%M:%SZ)\"}"
(
  PATH=$tools
  while [ -d "$folder" ]; do
    printf '%s' "$record" 1<>"$folder/exit.tmp" && sync "$folder/exit.tmp" &&
      mv "$folder/exit.tmp" "$folder/exit.json" && sync "$folder" && break
    sleep 1
  done
)
printf 'ended %s\n' "$record" >&5
if [ -n "$ender" ]; then wait "$ender"; else end_group "$((grace < 20 ? grace : 20))"; fi
end_orphans
