import type { AmountSignal } from '../../core/signal/signal.js';
import { valueText, type ThresholdValue } from '../../core/threshold/threshold.js';
import type { SourcePosition } from '../../errors.js';
import type { Origin } from '../config.js';
import type { OriginMap } from '../merge/layer.js';
import type { Profile } from '../merge/kubelet-profile.js';
import type { Report } from '../value/report.js';
import type { ThresholdMapKey } from './thresholds.js';

const SOURCE = 'memory.available';
const COPY = 'allocatableMemory.available';

/** An entry of a map by signal; `value` undefined: it disables the threshold. */
export interface Entry<T> {
  readonly text: string;
  readonly value: T | undefined;
  readonly origin: Origin;
  readonly keyAt: SourcePosition;
}

/** The maps by signal, merged over all layers. */
export interface EntryMaps {
  readonly evictionHard: ReadonlyMap<AmountSignal, Entry<ThresholdValue>>;
  readonly evictionSoft: ReadonlyMap<AmountSignal, Entry<ThresholdValue>>;
  readonly evictionSoftGracePeriod: ReadonlyMap<AmountSignal, Entry<bigint>>;
  readonly evictionMinimumReclaim: ReadonlyMap<AmountSignal, Entry<ThresholdValue>>;
}

interface Copied {
  readonly map: ThresholdMapKey;
  readonly entry: Entry<unknown>;
}

/**
 * With the departure, an evictionHard entry for allocatableMemory.available (`0%` included) replaces the copy; in the
 * kubelet both hold.
 */
export function copiesMemory({ evictionHard }: EntryMaps, { enforceAllocatable, departures }: Profile): boolean {
  return enforceAllocatable && !(departures.allocatable && evictionHard.has(COPY));
}

/** Records the origins of the copied values; a key that is also set itself gets a second line, 'KEY (copy)'. */
export function noteCopies(maps: EntryMaps, origins: OriginMap): void {
  for (const { map, entry } of copiedEntries(maps)) {
    const key = `${map}.${COPY}`;
    origins.set(origins.has(key) ? `${key} (copy)` : key, { value: entry.text, origin: { kind: 'copied', from: `${map}.${SOURCE}` } });
  }
}

/** Warns of thresholds of allocatableMemory.available when `allocatable` is not configured. */
export function noticeUnreadable(maps: EntryMaps, copies: boolean, { allocatable, allocatableOrigin }: Profile, report: Report): void {
  if (allocatable !== undefined) return;
  const configure = 'add allocatable: {cgroup: /kubepods.slice}';
  const warn = (text: string, hint: string, position: SourcePosition | undefined): void => {
    const message = `${COPY}<${text}`;
    report.notice('warn', 'EVICTD_CONFIG_ALLOCATABLE', message, { hint: `${configure}, or ${hint}`, ...(position && { position }) });
  };
  for (const { value, origin } of [maps.evictionHard.get(COPY), maps.evictionSoft.get(COPY)].filter((entry) => entry !== undefined)) {
    if (value !== undefined) warn(`${valueText(value)} cannot be read without allocatable`, 'remove it', positionOf(origin));
  }
  const copied = copies ? copiedEntries(maps).find(({ map }) => map === 'evictionHard' || map === 'evictionSoft') : undefined;
  if (copied === undefined) return;
  const because = allocatableOrigin.kind === 'follows' ? ` because of ${allocatableOrigin.key}: ${String(allocatableOrigin.value)}` : '';
  const text = `${copied.entry.text} cannot be read without allocatable; it is copied from ${SOURCE}${because}`;
  warn(text, 'set enforceNodeAllocatable: []', positionOf(copied.entry.origin) ?? positionOf(allocatableOrigin));
}

/** A soft threshold with a grace period of 0 counts as hard (kubelet: addAllocatableThresholds). */
function copiedEntries(maps: EntryMaps): Copied[] {
  const [hard, soft] = [maps.evictionHard.get(SOURCE), maps.evictionSoft.get(SOURCE)];
  const gracePeriod = maps.evictionSoftGracePeriod.get(SOURCE);
  const minReclaim = maps.evictionMinimumReclaim.get(SOURCE);
  const copied: Copied[] = [];
  if (hard?.value !== undefined) copied.push({ map: 'evictionHard', entry: hard });
  if (soft?.value !== undefined && gracePeriod?.value === 0n) {
    copied.push({ map: 'evictionSoft', entry: soft }, { map: 'evictionSoftGracePeriod', entry: gracePeriod });
  }
  if (copied.length > 0 && minReclaim !== undefined) copied.push({ map: 'evictionMinimumReclaim', entry: minReclaim });
  return copied;
}

function positionOf(origin: Origin): SourcePosition | undefined {
  return origin.kind === 'set' || origin.kind === 'follows' ? origin.position : undefined;
}
