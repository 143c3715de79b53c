import { holderJson, holdersText } from '../../core/disk/disk-holder.js';
import { type DiskHolder } from '../../core/disk/filesystem-holders.js';
import type { DiskSignal } from '../../core/signal/signal.js';
import type { JournalRecord } from './record.js';

export function holdersRecord(signal: DiskSignal, holders: readonly DiskHolder[]): JournalRecord {
  const found = holders.length > 0 ? holdersText(holders) : 'no large holder was found';
  return { type: 'holders', signal, holders: holders.map(holderJson), message: `${signal}: ${found}` };
}
