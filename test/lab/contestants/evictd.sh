# evictd as its package installs it, with workloads and the threshold of the comparison.
service=evictd.service
settings="evictionHard: { memory.available: ${limit}Mi }"
version() { evictd --version; }
configure() {
  dpkg --force-unsafe-io --install $lab/evictd.deb >/dev/null
  cat >/etc/evictd/config.yaml <<Y
apiVersion: evictd.dev/v1
kind: EvictdConfiguration
workloads: [{ systemd: { slices: [workload.slice] } }]
$settings
Y
  evictd config check
}
