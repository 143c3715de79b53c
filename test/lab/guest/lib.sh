# Sourced by race.sh and idle.sh in the machine. A contestant's file is sourced after it and replaces what differs.
shopt -s nullglob
lab=/project/build/lab             # what run.ts has built: load, referee, the package
files=/var/lib/lab
limit=100                          # MiB: contestants are to act when less is available
total=$(awk '$1 == "MemTotal:" { print int($2 / 1024) }' /proc/meminfo)
say() { echo "$who: $*"; }
available() { awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo; }
below() { (($(available) < $1)); }
within() { # SECONDS COMMAND...
  local end=$((SECONDS + $1))
  until "${@:2}" >/dev/null 2>&1; do ((SECONDS < end)) || { say "not within $1 s: ${*:2}"; return 1; }; sleep 0.2; done
}

# ---- a contestant ----
service=''                         # its unit, whose cost is its cost
jitter=1                           # s: its period; rounds start at different points of it
configure() { :; }                 # writes its configuration. No workload runs
start() { systemctl restart $service; }
ready() { systemctl is-active -q $service; } # it watches
version() { :; }
log() { journalctl -o cat --no-pager -u $service; }

# ---- the workload: units of workload.slice ----
services=(web db cache)
declare -A mib=([web]=60 [db]=100 [cache]=60)
unit() { # NAME COMMAND...
  systemctl reset-failed "$1.service" 2>/dev/null
  systemd-run --quiet --slice=workload.slice --unit="$1" "${@:2}"
}
service_up() {
  local own=()
  [[ $1 != db ]] || own=(-p OOMScoreAdjust=-500 -p ManagedOOMPreference=avoid)
  unit "$1" "${own[@]}" $files/load hold "$1" $((total < 700 ? mib[$1] / 2 : mib[$1]))
}
services_up() {
  local name
  for name in "${services[@]}"; do pgrep -x "$name" >/dev/null || service_up "$name"; done
  for name in "${services[@]}"; do within 40 pgrep -x "$name" || return 1; done
}

# ---- the machine ----
prepare() {
  echo -1000 >/proc/self/oom_score_adj
  mkdir -p $files
  cp $lab/load $lab/referee $files/
  head -c 4M /dev/urandom >$files/text
  systemctl start workload.slice
}
swap_on() { # none|file|zram, of half the memory
  local mib=$((total / 2 < 1024 ? total / 2 : 1024))
  case $1 in
    none) ;;
    file) fallocate -l ${mib}M $files/swap && chmod 600 $files/swap && mkswap -q $files/swap && swapon $files/swap ;;
    zram) modprobe zram && echo ${mib}M >/sys/block/zram0/disksize && mkswap -q /dev/zram0 && swapon -p 100 /dev/zram0 ;;
    *) say "no swap $1"; return 1 ;;
  esac
}
# Drops the page cache that the installation of packages has filled: it would change the race.
drop_caches() { sync && echo 3 >/proc/sys/vm/drop_caches; }
occupy() { # nothing|cache|slab|hugepages: before each round
  case $1 in
    nothing) ;;
    cache) # files without blocks
      local left; left=$(available)
      truncate -s $((left * 5 / 8))M $files/hot && truncate -s $((left / 2))M $files/cold
      $files/load map $files/hot && cat $files/cold >/dev/null ;;
    slab) mkdir -p $files/empty && $files/load dentries $files/empty $((total / 4)) ;;
    hugepages) echo $((total / 4 / 2)) >/proc/sys/vm/nr_hugepages ;;
    *) say "nothing occupies memory as $1"; return 1 ;;
  esac
}
