#!/bin/bash
# race.sh CONTESTANT ROUNDS SWAP OCCUPIED RATE...: runs in the machine. For each round it appends a line of name=value to
# /out/rounds, then the trace of the round's signals.
who=$1 rounds=$2 swap=$3 occupied=$4
rates=("${@:5}")
. /project/test/lab/guest/lib.sh
. "/project/test/lab/contestants/$who.sh"
trace=/sys/kernel/tracing
patience=$((swap == none ? 90 : 240)) # s, after which a round is undecided
linger=3.5                            # s, to look for further victims

trace_signals() {
  mount -t tracefs nodev $trace
  echo mono >$trace/trace_clock
  echo 'sig == 9 || sig == 15' >$trace/events/signal/signal_generate/filter
  echo 1 >$trace/events/signal/signal_generate/enable
  echo 1 >$trace/events/oom/mark_victim/enable
}
pids() { local name; for name in "${services[@]}"; do pgrep -nx "$name" || echo none; done; }
# The services whose process ID has changed.
lost() { paste -d ' ' <(printf '%s\n' "${services[@]}") <(echo "$1") <(pids) | awk '$2 != $3 { printf "%s%s", n++ ? "+" : "", $1 }'; }
# The sources of used memory, in KiB.
memory() {
  awk '$1 == "MemFree:" { printf "free_kib=%d ", $2 } $1 == "Active(file):" { printf "active_file_kib=%d ", $2 }
    $1 == "Inactive(file):" { printf "inactive_file_kib=%d ", $2 }
    $1 == "SReclaimable:" { printf "slab_kib=%d ", $2 } $1 == "Hugetlb:" { printf "huge_kib=%d", $2 }' /proc/meminfo
}
ready_to_leak() { below $((level + 8)) || ! kill -0 "$pid"; }

race() { # ROUND RATE
  local before level line='' lost memory pid pause
  services_up || return 1
  occupy "$occupied" || return 1
  memory=$(memory)
  before=$(pids)
  level=$((limit + ($2 == 0 || $2 > 20 ? 200 : 100)))
  below $((level + 20)) && level=$(($(available) - 20))
  unit "batch$1" $files/load leak batch "$2" "$level" && within 60 pgrep -nx batch || return 1
  pid=$(pgrep -nx batch)
  pause=$(awk -v round="$1" -v jitter="$jitter" 'BEGIN { printf "%.2f", 1 + (round * 0.37) % 1 * jitter }')
  sleep "$pause"
  echo >$trace/trace
  kill -USR1 "$pid"
  within $((60 + total / 20)) ready_to_leak || return 1
  sleep 1.5
  kill -0 "$pid" 2>/dev/null && line=$($files/referee "$pid" "$limit" "$patience" "$linger" $files/text)
  lost=$(lost "$before")
  { echo "round=$1 rate=$2 pid=$pid limit_mib=$limit lost=${lost:--} $memory $line"; cat $trace/trace; } >>/out/rounds
  say "round $1, $2 MiB/s: ${line:-ended before the round began}"
  systemctl kill -s KILL "batch$1.service" 2>/dev/null
  within 20 eval '! pgrep -x batch'
  sleep 1
}

prepare
trace_signals
swap_on "$swap" && configure && drop_caches && start && within 120 ready || { log | tail -n 40; exit 1; }
sleep 3
say "$(version), $(available) of $total MiB available"
status=0
for ((round = 0; round < rounds * ${#rates[@]}; round++)); do
  race "$round" "${rates[round % ${#rates[@]}]}" || { status=1; break; }
done
{ log; dmesg | grep -iE 'out of memory|oom-kill|oom_reaper'; } >/out/contestant.log 2>&1
exit $status
