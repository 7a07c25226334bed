#!/usr/bin/env bash
# The relay between a step and the spool. It reserves a file's space before it takes output from the step, takes none while too
# many files wait for a worker, and gives back the space that a file doesn't need: on a full disk, and during a long absence of
# workers, the step waits in its next write, and no output is lost. It renames `open` to `waiting` while it waits for space.
# Without `fallocate`, a full disk costs up to one read.
#
# - Its environment doesn't have LONGHAUL_STEP_ID, so that it isn't killed as a process of the step: it ends when no writer is
#   left.
# - A file is the last one if `dd` makes fewer reads than it may. GNU's prints a warning about short reads before the counts.
#
# Argument: folder of the run.

# Maximum reads of the step's output that go into one file of the spool, and their maximum size.
reads=4096 bytes=512
# Maximum files in the spool: 64 MiB of output wait for a worker at most, or less if it comes in small pieces.
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
