/** /etc/evictd/config.yaml of a new installation: the defaults, and no workloads, so that evictd evicts nothing. */
export const STARTER_CONFIG = `# Configuration of evictd. \`evictd config check\` checks it, \`systemctl reload evictd\` applies it.
apiVersion: evictd.dev/v1
kind: EvictdConfiguration

# The workloads that evictd may evict: each child of a cgroup, or each unit of a slice. By default none.
workloads: []
#  - cgroup: /workload.slice
#  - systemd: {slices: [batch.slice], units: ['web@*.service']}

# Which workloads evictd never evicts (critical), and which it evicts first (the lowest priority).
rules: []
#  - match: { name: 'postgres*' }
#    critical: true
#  - match: { name: 'batch-*' }
#    priority: -10

# When evictd evicts. These are the defaults.
evictionHard:
  memory.available: 100Mi
  nodefs.available: 10%
  nodefs.inodesFree: 5%
`;
