# evictd as its package installs it, with nothing but workloads in its configuration.
. /project/test/lab/contestants/evictd.sh
settings=''
