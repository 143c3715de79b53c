# evictd that leaves no time for JavaScript: the standing order acts at nearly every crossing.
. /project/test/lab/contestants/evictd.sh
settings+=$'\nstandingOrder: { after: 10us }'
