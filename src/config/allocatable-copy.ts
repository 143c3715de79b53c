import type { AmountSignal } from '../core/signal.js';
import { valueText, type ThresholdValue } from '../core/threshold.js';
import type { SourcePosition } from '../errors.js';
import type { Origin } from './config.js';
import type { Entry } from './eviction.js';
import type { OriginMap } from './layered.js';
import type { Profile } from './profile.js';
import type { Report } from './report.js';
import type { ThresholdMapKey } from './threshold-config.js';

const SOURCE = 'memory.available';
const COPY = 'allocatableMemory.available';

/** The maps by signal, of all layers together. */
export interface EntryMaps {
  readonly evictionHard: ReadonlyMap<AmountSignal, Entry<ThresholdValue>>;
  readonly evictionSoft: ReadonlyMap<AmountSignal, Entry<ThresholdValue>>;
  readonly evictionSoftGracePeriod: ReadonlyMap<AmountSignal, Entry<bigint>>;
  readonly evictionMinimumReclaim: ReadonlyMap<AmountSignal, Entry<ThresholdValue>>;
}

/** What hard memory.available thresholds leave to allocatableMemory.available, in the words that `config show` has for it. */
interface Copied {
  readonly map: ThresholdMapKey;
  readonly entry: Entry<unknown>;
}

/** With the departure an entry of evictionHard for allocatableMemory.available, `0%` too, stands instead of the copy; in the kubelet both hold. */
export function copiesMemory({ evictionHard }: EntryMaps, { enforceAllocatable, departures }: Profile): boolean {
  return enforceAllocatable && !(departures.allocatable && evictionHard.has(COPY));
}

/** Notes where copied values come from, beside what is written for the same key. */
export function noteCopies(maps: EntryMaps, origins: OriginMap): void {
  for (const { map, entry } of copiedEntries(maps)) {
    const key = `${map}.${COPY}`;
    origins.set(origins.has(key) ? `${key} (copy)` : key, { value: entry.text, origin: { kind: 'copied', from: `${map}.${SOURCE}` } });
  }
}

/** Thresholds of allocatableMemory.available without what could be read for it, and where they come from. */
export function noticeUnreadable(maps: EntryMaps, copies: boolean, { allocatable, allocatableOrigin }: Profile, report: Report): void {
  if (allocatable !== undefined) return;
  const configure = 'add allocatable: {cgroup: /kubepods, capacity: 8Gi}';
  const say = (text: string, hint: string, position: SourcePosition | undefined): void => {
    const message = `${COPY}<${text}`;
    report.notice('warn', 'EVICTD_CONFIG_ALLOCATABLE', message, { hint: `${configure}, or ${hint}`, ...(position && { position }) });
  };
  for (const { value, origin } of [maps.evictionHard.get(COPY), maps.evictionSoft.get(COPY)].filter((entry) => entry !== undefined)) {
    if (value !== undefined) say(`${valueText(value)} cannot be read without allocatable`, 'remove it', positionOf(origin));
  }
  const copied = copies ? copiedEntries(maps).find(({ map }) => map === 'evictionHard' || map === 'evictionSoft') : undefined;
  if (copied === undefined) return;
  const because = allocatableOrigin.kind === 'follows' ? ` because of ${allocatableOrigin.key}: ${String(allocatableOrigin.value)}` : '';
  const said = `${copied.entry.text} cannot be read without allocatable; it is copied from ${SOURCE}${because}`;
  say(said, 'enforceNodeAllocatable: []', positionOf(copied.entry.origin) ?? positionOf(allocatableOrigin));
}

/** A soft threshold with a grace period of 0 is hard here, too (kubelet: addAllocatableThresholds). */
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
