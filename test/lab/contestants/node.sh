# For `idle`: what an idle Node process costs.
service=node.service
version() { node --version; }
start() { systemd-run --quiet --unit=node.service /usr/local/bin/node -e 'setInterval(() => {}, 1000)'; }
