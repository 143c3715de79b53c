# nohang with its packaged configuration but for the thresholds; the condition for swap is always true.
service=nohang.service
version() { dpkg-query -W -f 'nohang ${Version}\n' nohang; }
configure() {
  local soft hard
  soft=$(awk -v limit=$limit '$1 == "MemTotal:" { printf "%.2f", limit * 102400 / $2 }' /proc/meminfo)
  hard=$(awk -v soft="$soft" 'BEGIN { printf "%.2f", soft / 2 }')
  sed -i "s/^\(soft_threshold_min_mem *=\).*/\1 $soft %/; s/^\(hard_threshold_min_mem *=\).*/\1 $hard %/
    s/^\(soft_threshold_min_swap *=\).*/\1 100 %/; s/^\(hard_threshold_min_swap *=\).*/\1 100 %/" /etc/nohang/nohang.conf
}
ready() { log | grep -q 'Monitoring has started'; }
