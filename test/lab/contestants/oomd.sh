# oomd looks every second. It kills the largest or fastest growing unit of workload.slice when only the limit is left of the
# memory that was available before the slice started, or after 30 s of 60 % pressure with reclaim.
service=oomd.service
version() { dpkg-query -W -f 'oomd ${Version}\n' oomd; }
configure() {
  echo 'DAEMON_OPTS="--interval 1 --config /etc/oomd/lab.json"' >/etc/default/oomd
  cat >/etc/oomd/lab.json <<J
{"rulesets": [{
  "name": "workload",
  "detectors": [
    ["little left", {"name": "memory_above", "args": {"cgroup": "workload.slice", "threshold": "$(($(available) - limit))M", "duration": "0"}}],
    ["pressure", {"name": "pressure_above", "args": {"cgroup": "workload.slice", "resource": "memory", "threshold": "60", "duration": "30"}},
      {"name": "memory_reclaim", "args": {"cgroup": "workload.slice", "duration": "10"}}]
  ],
  "actions": [{"name": "kill_by_memory_size_or_growth", "args": {"cgroup": "workload.slice/*"}}]
}]}
J
}
