#!/bin/sh
# run.sh FUZZER...: runs each fuzzer for FUZZ_SECONDS (60) on the corpus of its name, one per processor at a time. The
# inputs that it finds stay under build/test/fuzz for the next run. An input that fails is copied there and printed.
# The last line is "N passed, N failed".
cd "$(dirname "$0")/.." || exit 1
one() {
  name=$(basename "$1")
  found=../../build/test/fuzz/found/$name
  mkdir -p "$found"
  if "$1" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=5 -max_len=8192 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="../../build/test/fuzz/$name-" "$found" "corpus/${name%_fuzzer}" >"$found.log" 2>&1; then
    echo "passed $name: $(sed -n 's/stat::number_of_executed_units: *//p' "$found.log") inputs"
  else
    cat "$found.log"
    echo "failed $name"
  fi
}
if [ "$1" = --one ]; then
  one "$2"
  exit
fi
results=$(printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 sh fuzz/run.sh --one)
echo "$results"
failed=$(echo "$results" | grep -c '^failed ')
echo "$(echo "$results" | grep -c '^passed ') passed, $failed failed"
[ "$failed" = 0 ]
