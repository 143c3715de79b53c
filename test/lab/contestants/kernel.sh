# Nothing but the kernel's OOM killer.
start() { :; }
ready() { :; }
version() { uname -r; }
log() { :; }
