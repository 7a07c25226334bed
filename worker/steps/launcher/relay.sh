#!/usr/bin/env bash
# The relay between a step and the spool. It reserves a file's space before it takes output from the step, takes none while too
# many files wait for a worker, and gives back the space that a file doesn't need. So on a full disk, or without workers for
# long, the step waits in its next write and loses no output. It renames `open` to `waiting` while it waits for space. Without
# `fallocate`, a full disk costs up to one read.
#
# - Its environment lacks LONGHAUL_STEP_ID, so it isn't killed as a process of the step. It ends when no writer is left.
# - A file is the last one if `dd` makes fewer reads than it may. GNU's prints a warning about short reads before the counts.
#
# Argument: folder of the run.

# Maximum reads of the step's output per file of the spool, and their maximum size in bytes.
reads=4096 bytes=512
# Maximum files in the spool: at most 64 MiB of output wait for a worker, less if it comes in small pieces.
files=32

export LC_ALL=C
spool=$1/spool at=0
reserve_space() {
  local refusal
  while ! refusal=$( (: >>"$1" && exec fallocate -n -l $((reads * bytes)) "$1") 2>&1); do
    case $refusal in *'No space'* | *'quota'*) ;; *) return ;; esac
    [ ! -e "$spool/open" ] || mv "$spool/open" "$spool/waiting"
    sleep 1
  done
  [ ! -e "$spool/waiting" ] || mv "$spool/waiting" "$spool/open"
}
while [ -d "$spool" ]; do
  while [ -e "$spool/$((at - files))" ]; do sleep 0.1; done
  reserve_space "$spool/$at"
  if report=$(dd bs="$bytes" count="$reads" 2>&1 >>"$spool/$at"); then
    [[ $report =~ ([0-9]+)\+([0-9]+)\ records\ in ]] &&
      ((BASH_REMATCH[1] + BASH_REMATCH[2] < reads)) && break
    truncate -s +0 "$spool/$at"
    at=$((at + 1))
  else sleep 0.1; fi
done
mv "$spool/open" "$spool/ended"
exec cat >/dev/null
