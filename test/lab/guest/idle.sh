#!/bin/bash
# idle.sh SECONDS CONTESTANT...: runs in the machine. Measures what the contestants cost, side by side, while nothing
# happens: lines of name=value in /out/costs.
seconds=$1 who=idle
contestants=("${@:2}")
. /project/test/lab/guest/lib.sh
declare -A group used
as() { (who=$1; . "/project/test/lab/contestants/$1.sh"; "${@:2}"); } # CONTESTANT COMMAND...

prepare
for each in "${contestants[@]}"; do
  as "$each" configure && as "$each" start && within 120 as "$each" ready || { as "$each" log | tail -n 40; exit 1; }
  group[$each]=/sys/fs/cgroup$(systemctl show -P ControlGroup "$(as "$each" eval 'echo $service')")
done
services_up || exit 1

processor_ms() { awk '$1 == "usage_usec" { print int($2 / 1000) }' "${group[$1]}/cpu.stat"; }
memory() {
  find "${group[$1]}" -name cgroup.procs -exec cat {} + | while read -r pid; do cat "/proc/$pid/smaps_rollup"; done |
    awk '/^Rss:/ { rss += $2 } /^Pss:/ { pss += $2 } /^Anonymous:/ { anonymous += $2 }
      END { printf("rss_kib=%d pss_kib=%d anonymous_kib=%d", rss, pss, anonymous) }'
}
measure() { # WORKLOADS
  local each
  sleep 60 # the cost of a start, and of what was just made
  for each in "${contestants[@]}"; do used[$each]=$(processor_ms "$each"); done
  sleep "$seconds"
  for each in "${contestants[@]}"; do used[$each]=$(($(processor_ms "$each") - used[$each])); done
  for each in "${contestants[@]}"; do
    echo "who=$each workloads=$1 seconds=$seconds cpu_ms=${used[$each]} $(memory "$each")"
  done | tee -a /out/costs
}

for i in {1..20}; do unit "idle$i" $files/load pause; done
measure 20-units
unit many -p Delegate=yes bash -c "
  group=/sys/fs/cgroup/workload.slice/many.service
  mkdir \$group/own; echo \$\$ >\$group/own/cgroup.procs; echo +memory >\$group/cgroup.subtree_control
  for i in {1..300}; do mkdir \$group/c\$i; $files/load pause & echo \$! >\$group/c\$i/cgroup.procs; done
  touch $files/many; wait"
within 120 test -e $files/many || exit 1
measure 300-cgroups
