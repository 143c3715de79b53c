#!/bin/bash
seconds=$1 who=idle
. /project/test/lab/guest/lib.sh
as() { (who=$1; . "/project/test/lab/contestants/$1.sh"; "${@:2}"); }
prepare
for each in earlyoom evictd; do
as $each configure && as $each start && within 120 as $each ready || { as $each log | tail -n 40; exit 1; }
done
services_up || exit 1
for i in {1..20}; do unit "idle$i" $files/load pause; done
sleep 60
look() { for e in earlyoom evictd; do p=$(systemctl show -P MainPID $e.service); for t in /proc/$p/task/*; do
 echo "$e ${t##*/} $(cat $t/comm) $(cut -d' ' -f1 $t/schedstat) $(awk '/^voluntary/{print $2}' $t/status)"; done; done; }
look > /tmp/a; cat /proc/1/schedstat | cut -d' ' -f1 > /tmp/s1
sleep $seconds
look > /tmp/b; cat /proc/1/schedstat | cut -d' ' -f1 > /tmp/s2
join -j 1 <(awk '{print $1"/"$2" "$3" "$4" "$5}' /tmp/a | sort) <(awk '{print $1"/"$2" "$3" "$4" "$5}' /tmp/b | sort) | awk '{printf "%s %s ms=%.1f wakes=%d\n",$1,$2,($6-$3)/1e6,$7-$4}' | grep -v "ms=0.0 wakes=0" | tee /out/threads
echo "systemd ms $(( ($(cat /tmp/s2)-$(cat /tmp/s1))/1000000 ))" | tee -a /out/threads
