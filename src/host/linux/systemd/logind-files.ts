import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { attempt } from '../../../errors.js';

/** The first one that has a file of a name hides the others (systemd, src/basic/conf-files.c). */
const DIRECTORIES = ['/etc/systemd', '/run/systemd', '/usr/local/lib/systemd', '/usr/lib/systemd'];

/**
 * The file whose InhibitDelayMaxSec= logind takes: logind.conf, then the drop-ins of all directories by name, and the
 * last one wins. undefined: none has it.
 *
 * @param root  prefix of the files; '': the machine's
 */
export function inhibitDelayFile(root = ''): string | undefined {
  const dropIns = new Map<string, string>();
  for (const directory of DIRECTORIES.map((each) => `${each}/logind.conf.d`)) {
    const names = attempt(() => readdirSync(root + directory)) ?? [];
    for (const name of names) if (name.endsWith('.conf') && !dropIns.has(name)) dropIns.set(name, `${directory}/${name}`);
  }
  const main = DIRECTORIES.map((each) => `${each}/logind.conf`).find((path) => existsSync(root + path));
  const sorted = [...dropIns].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, path]) => path);
  return [...(main === undefined ? [] : [main]), ...sorted].findLast((path) =>
    setsDelay(attempt(() => readFileSync(root + path, 'utf8')) ?? ''),
  );
}

function setsDelay(text: string): boolean {
  const sections = text.split(/^\s*(?=\[[^\]]*\]\s*$)/m);
  return sections.some((section) => section.startsWith('[Login]') && /^\s*InhibitDelayMaxSec\s*=/m.test(section));
}
