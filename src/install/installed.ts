import { join } from 'node:path';
import type { Places } from './place.js';
import { fileText } from './step.js';
import { wordsOf } from './unit-line.js';
import { SERVICE } from './units.js';

export function isOurs(text: string): boolean {
  return text.startsWith('# Written by `evictd install`');
}

/** The configuration that the service was installed with; undefined: it is not installed, or has the default one. */
export function installedConfigFile({ units, configFile }: Places): string | undefined {
  const unit = fileText(join(units, SERVICE));
  if (typeof unit !== 'object' || !isOurs(unit.text)) return undefined;
  const words = wordsOf(/^ExecStart=(.*)$/m.exec(unit.text)?.[1] ?? '');
  const at = words.indexOf('--config');
  const named = at === -1 ? undefined : words[at + 1];
  return named === configFile ? undefined : named;
}
