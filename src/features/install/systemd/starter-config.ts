import { join } from 'node:path';
import type { Places } from '../install-machine.js';
import { fileText } from '../install-step.js';
import { wordsOf, SERVICE } from './units.js';

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

/** Whether `evictd install` wrote the file. */
export function isOurs(text: string): boolean {
  return text.startsWith('# Written by `evictd install`');
}

/** What the installed service reads; undefined: it is not installed, or that is the default. */
export interface InstalledConfig {
  readonly config: string | undefined;
  /** A kubelet's drop-ins. */
  readonly configDir: string | undefined;
}

export function installedConfig({ units, configFile }: Places): InstalledConfig {
  const unit = fileText(join(units, SERVICE));
  const isInstalled = typeof unit === 'object' && isOurs(unit.text);
  const words = isInstalled ? wordsOf(/^ExecStart=(.*)$/m.exec(unit.text)?.[1] ?? '') : [];
  const valueOf = (option: string): string | undefined => (words.includes(option) ? words[words.indexOf(option) + 1] : undefined);
  const config = valueOf('--config');
  return { config: config === configFile ? undefined : config, configDir: valueOf('--config-dir') };
}
