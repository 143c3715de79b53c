import { amountOfBytes } from '../../core/amount.js';
import { jsonInteger } from '../../core/integer.js';
import type { ReclaimReading } from '../../core/reclaim.js';
import type { Gain, NamedGain } from '../../reclaim/gain.js';
import { table, type Column } from './table.js';

const GAIN_COLUMNS: readonly Column[] = [
  { heading: 'STEP', align: 'left' },
  { heading: 'GAIN', align: 'right' },
  { heading: 'COMMAND', align: 'left' },
];
const FREED_COLUMNS: readonly Column[] = [
  { heading: 'STEP', align: 'left' },
  { heading: 'FREED', align: 'right' },
  { heading: 'INODES', align: 'right' },
];
const NO_STEPS = 'no reclaim steps are configured: docs/reclaim.md\n';

/** What each step could free, and its commands. */
export function gainText(gains: readonly NamedGain[]): string {
  if (gains.length === 0) return NO_STEPS;
  const rows = gains.map(({ name, gain }) => [name, amountText(gain), gain.commands.map((argv) => argv.join(' ')).join('; ')]);
  const errors = gains.flatMap(({ name, gain }) => (gain.error === undefined ? [] : [`${name}: ${gain.error}`]));
  return [...table(GAIN_COLUMNS, rows), ...errors].map((line) => `${line}\n`).join('');
}

function amountText({ bytes, count, unit, commands }: Gain): string {
  if (commands.length === 0) return 'not available here';
  const items = count === undefined ? [] : [`${String(count)} ${count === 1n ? unit : `${unit}s`}`];
  return [...(bytes === undefined ? [] : [amountOfBytes(bytes)]), ...items].join(', ') || 'unknown';
}

export function gainJson(gains: readonly NamedGain[]): string {
  const steps = gains.map(({ name, gain: { bytes, count, unit, commands, error } }) => ({
    name,
    gainBytes: bytes === undefined ? null : jsonInteger(bytes),
    count: count === undefined ? null : jsonInteger(count),
    unit,
    commands,
    ...(error !== undefined && { error }),
  }));
  return `${JSON.stringify({ steps }, undefined, 2)}\n`;
}

export function reclaimedText({ yields = [], errors }: ReclaimReading): string {
  if (yields.length === 0 && errors.length === 0) return NO_STEPS;
  const rows = yields.map(({ collection, bytes, inodes }) => [collection, amountOfBytes(bytes), String(inodes)]);
  return [...table(FREED_COLUMNS, rows), ...errors].map((line) => `${line}\n`).join('');
}

export function reclaimedJson({ yields = [], errors }: ReclaimReading): string {
  const steps = yields.map(({ collection, bytes, inodes }) => ({
    name: collection,
    freedBytes: jsonInteger(bytes),
    freedInodes: jsonInteger(inodes),
  }));
  return `${JSON.stringify({ steps, errors }, undefined, 2)}\n`;
}
