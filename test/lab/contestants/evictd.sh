# evictd as its package installs it, with workloads and the threshold of the comparison. Each round is another unit, and
# the budget of five evictions in ten minutes is not what is compared.
service=evictd.service
settings="evictionHard: { memory.available: ${limit}Mi }
evictionBudget: { max: 1000 }"
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
