import { configurationSchema, type JsonSchema } from '../../src/config/json-schema.js';
import type { Page } from './command-pages.js';
import { bold, filled, item, page, section, verbatim, type PageHead } from './roff.js';

const EXAMPLE = [
  'workloads:',
  '  - cgroup: /workload.slice',
  'rules:',
  "  - match: { name: 'db*' }",
  '    critical: true',
  'evictionHard:',
  '  memory.available: 5%',
];

/** evictd.yaml(5): every key of the JSON Schema. */
export function configurationPage(edition: Pick<PageHead, 'date' | 'version'>): Page {
  const text = page({ ...edition, name: 'evictd.yaml', volume: 5, description: 'configuration of evictd' }, [
    section(
      'DESCRIPTION',
      filled(
        'evictd reads /etc/evictd/config.yaml, then config.d/*.yaml beside it in byte order of the names, then flags. Every key is optional.',
      ),
      '.PP',
      filled(
        'evictd config check reports errors with line and column. evictd config show prints each value in effect and where it was set.',
      ),
    ),
    section('EXAMPLE', verbatim(EXAMPLE)),
    section('KEYS', ...keyItems(configurationSchema(), '')),
    section('SEE ALSO', '.BR evictd (8),', '.BR evictd\\-config (8)'),
  ]);
  return { file: 'evictd.yaml.5', text };
}

function keyItems({ anyOf = [], items, properties = {} }: JsonSchema, path: string): string[] {
  const own = Object.entries(properties).flatMap(([key, value]) => {
    const at = path === '' ? key : `${path}.${key}`;
    return [item(bold(at), [value.description ?? '', ...kindOf(value)].join(' ')), ...keyItems(value, at)];
  });
  const below = [...anyOf.map((one) => keyItems(one, path)), ...(items ? [keyItems(items, `${path}[]`)] : [])].flat();
  return [...new Set([...own, ...below])];
}

function kindOf({ type, enum: words, minimum, maximum, default: preset }: JsonSchema): string[] {
  const range =
    type === 'integer' ? [`A whole number${isRange(minimum, maximum) ? ` from ${String(minimum)} to ${String(maximum)}` : ''}.`] : [];
  const isShown = typeof preset === 'string' || typeof preset === 'number' || typeof preset === 'boolean';
  const shown = isShown ? [`Default: ${String(preset)}.`] : [];
  return [...(words ? [`One of ${words.join(', ')}.`] : []), ...(type === 'boolean' ? ['true or false.'] : []), ...range, ...shown];
}

const isRange = (least: number | undefined, most: number | undefined): boolean =>
  least !== undefined && most !== undefined && most < 2 ** 31 - 1;
