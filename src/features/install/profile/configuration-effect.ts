import type { LoadedConfig } from '../../../config/config.js';
import type { PresentWorkload } from '../../../config/lint/machine.js';
import { printable } from '../../../core/name/printable.js';
import { messageOf } from '../../../errors.js';

/** Finds the workloads that a configuration names now. Throws if the machine cannot be read. */
export type PresentWorkloadsOf = (loaded: LoadedConfig) => Promise<readonly PresentWorkload[]>;

const MAX_NAMED = 12;

/** What a configuration would evict now, and what it protects: two lines, or one with the reason why it is not known. */
export async function configurationEffect(load: () => LoadedConfig, workloads: PresentWorkloadsOf): Promise<string> {
  let present: readonly PresentWorkload[];
  try {
    present = await workloads(load());
  } catch (error) {
    return `cannot list what this profile would evict: ${messageOf(error)}\n`;
  }
  if (present.length === 0) return 'nothing may be evicted: no workload of this configuration exists now (evictd config check says why)\n';
  const evictable = present.filter(({ unevictable }) => unevictable === undefined);
  const held = present.filter(({ unevictable }) => unevictable !== undefined && unevictable.kind !== 'vacant');
  return [
    `may be evicted (${String(evictable.length)}): ${named(evictable.map(({ name }) => name))}`,
    `protected (${String(held.length)}): ${named(held.map(({ name, unevictable }) => `${name} (${unevictable?.text ?? ''})`))}`,
  ]
    .map((line) => `${printable(line)}\n`)
    .join('');
}

function named(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return `${names.length === 0 ? 'none' : names.slice(0, MAX_NAMED).join(', ')}${more > 0 ? `, … and ${String(more)} more` : ''}`;
}

export const presentHere: PresentWorkloadsOf = async (loaded) => {
  const [{ readMachineFacts }, { filesystemsRead }] = await Promise.all([
    import('../../../node/machine-facts.js'),
    import('../../../node/reading.js'),
  ]);
  return (await readMachineFacts(loaded, filesystemsRead)).workloads?.present ?? [];
};
