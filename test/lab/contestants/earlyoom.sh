# earlyoom with its packaged unit, told to act on memory alone: with -s 100 its condition for swap is always true.
service=earlyoom.service
version() { earlyoom -v 2>&1 | head -n 1; }
configure() { echo "EARLYOOM_ARGS=\"-r 0 -M $((limit * 1024)),$((limit * 512)) -s 100,100\"" >/etc/default/earlyoom; }
