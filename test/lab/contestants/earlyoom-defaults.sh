# earlyoom as its package installs it: 10 % of memory and of swap.
. /project/test/lab/contestants/earlyoom.sh
configure() { :; }
