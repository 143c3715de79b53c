# systemd-oomd for workload.slice with Debian's defaults: 60 % of full pressure for 20 s, or 90 % of swap used.
service=systemd-oomd.service
version() { dpkg-query -W -f 'systemd-oomd ${Version}\n' systemd-oomd; }
configure() {
  mkdir -p /etc/systemd/system/workload.slice.d
  printf '[Slice]\nManagedOOMMemoryPressure=kill\nManagedOOMSwap=kill\n' >/etc/systemd/system/workload.slice.d/oomd.conf
  systemctl daemon-reload
}
start() { systemctl start systemd-oomd.socket $service; }
