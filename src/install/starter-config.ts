/** /etc/evictd/config.yaml of a new installation: what holds by default, and what is to be filled in. With it evictd watches, and evicts nobody. */
export const STARTER_CONFIG = `# evictd's configuration. \`evictd config check\` says what is wrong with it and what it will not do, \`systemctl reload evictd\` takes it over.
apiVersion: evictd.dev/v1
kind: EvictdConfiguration

# Whom evictd may evict. Nobody, until it is said here: each child of the cgroup, or each unit of the slices, is a workload.
workloads: []
#  - cgroup: /workload.slice
#  - systemd: {slices: [batch.slice], units: ['web@*.service']}

# Who is never evicted, and who goes first (the lowest priority).
rules: []
#  - match: { name: 'postgres*' }
#    critical: true
#  - match: { name: 'batch-*' }
#    priority: -10

# When. These are the defaults.
evictionHard:
  memory.available: 100Mi
  nodefs.available: 10%
  nodefs.inodesFree: 5%
`;
