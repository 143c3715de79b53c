#!/bin/bash
# thrash.sh CONTESTANT SWAP SECONDS: runs in the machine. Starts kinds of work that may or may not put memory under pressure,
# beside the three services, and reports whether the contestant ends them: a line of name=value each in /out/works.
who=$1 swap=$2 seconds=$3
. /project/test/lab/guest/lib.sh
. "/project/test/lab/contestants/$who.sh"

# ---- work: units of workload.slice ----
backup() { unit backup bash -c "while :; do cat $files/large >/dev/null; done"; }
database() { $files/load map $files/data && unit database $files/load serve database $files/data; }
build() { unit build -p WorkingDirectory=/project bash -c 'while node node_modules/typescript/bin/tsc --noEmit -p .; do :; done'; }
database_and_backup() { database && backup; }
# A leak that has taken the free memory takes 10 MiB/s from the page cache of the database.
database_and_leak() {
  database && unit leak $files/load leak leak 10 $((total * 45 / 100)) && within 20 pgrep -nx leak || return 1
  systemctl kill -s USR1 leak.service && within 60 below $((total * 45 / 100)) && systemctl kill -s USR2 leak.service
}
works=(backup database_and_backup build database_and_leak)
units=(backup database build leak)

# Reads a field of /proc without starting a process.
full_us() { local kind rest; while read -r kind _ _ _ rest; do [[ $kind != full ]] || echo "${rest#total=}"; done </proc/pressure/memory; }
refaults() { awk '/^workingset_refault/ { sum += $2 } END { print sum + 0 }' /proc/vmstat; }

work() { # NAME
  local started=() name ended='' after='' low=$total now full at last_full last_at share=0 percent before from=$SECONDS
  services_up || return 1
  drop_caches
  before=$(refaults)
  "$1" || return 1
  for name in "${units[@]}"; do systemctl is-active -q "$name.service" && started+=("$name"); done
  last_full=$(full_us) last_at=${EPOCHREALTIME/./}
  until ((SECONDS - from >= seconds)) || [[ -n $ended ]]; do
    sleep 2 # as often as the kernel adds up pressure
    full=$(full_us) at=${EPOCHREALTIME/./} now=$(available)
    percent=$((100 * (full - last_full) / (at - last_at)))
    last_full=$full last_at=$at
    ((now >= low)) || low=$now
    ((percent <= share)) || share=$percent
    for name in "${started[@]}" "${services[@]}"; do
      systemctl is-active -q "$name.service" || ended=${ended:+$ended+}$name after=$((SECONDS - from))
    done
  done
  echo "who=$who work=$1 seconds=$((SECONDS - from)) total_mib=$total low_available_mib=$low full_percent=$share refaults=$(($(refaults) - before)) ended=${ended:--} after_s=${after:--}" |
    tee -a /out/works
  for name in "${started[@]}"; do systemctl kill -s KILL "$name.service" 2>/dev/null; done
  sleep 5
}

prepare
swap_on "$swap" && configure || exit 1
head -c $((total * 6 / 10))M /dev/zero >$files/data && head -c $((total * 3 / 2))M /dev/zero >$files/large || exit 1
drop_caches && start && within 120 ready || { log | tail -n 40; exit 1; }
sleep 3
status=0
for each in "${works[@]}"; do work "$each" || { status=1; break; }; done
{ log; dmesg | grep -iE 'out of memory|oom-kill|oom_reaper'; } >/out/contestant.log 2>&1
exit $status
