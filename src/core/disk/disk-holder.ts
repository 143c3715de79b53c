import { amountOfBytes, counted } from '../quantity/amount.js';
import { isBelow } from '../workload/cgroup.js';
import { formatAge } from '../quantity/duration.js';
import { jsonInteger } from '../quantity/integer.js';
import type { DiskHolder, DeletedFilesHolder, DirectoryHolder } from './filesystem-holders.js';
import { printable } from '../name/printable.js';
import type { JsonObject } from '../name/json-text.js';

const LOGS = '/var/log';
const MINUTE_NS = 60_000_000_000n;

/**
 * 'nginx (pid 123) of /web.slice/nginx.service holds 2.1GiB in 3 deleted files', 'logs in /var/log/journal hold 4GiB in
 * 12 inodes'.
 */
export function holderText(holder: DiskHolder): string {
  switch (holder.kind) {
    case 'deleted-files':
      return deletedFilesText(holder);
    case 'directory':
      return directoryText(holder);
    case 'image':
      return `image ${printable(holder.name)}, in use, holds ${amountOfBytes(holder.holds.bytes)}`;
  }
}

const IN_SENTENCE = 3;

/** The first few: '/srv holds 8GiB in 10 inodes; nginx (pid 123) holds 2.1GiB in 3 deleted files'. */
export function holdersText(holders: readonly DiskHolder[]): string {
  return holders.slice(0, IN_SENTENCE).map(holderText).join('; ');
}

function deletedFilesText({ holds, processes, count }: DeletedFilesHolder): string {
  const [first] = processes;
  const cgroup = first?.cgroup === undefined ? '' : ` of ${printable(first.cgroup)}`;
  const others = count > 1 ? ` and ${String(count - 1)} more` : '';
  const files = holds.inodes === 1n ? '1 deleted file' : `${String(holds.inodes)} deleted files`;
  return `${printable(first?.name ?? '')} (pid ${String(first?.pid ?? 0)})${cgroup}${others} hold${count > 1 ? '' : 's'} ${amountOfBytes(holds.bytes)} in ${files}`;
}

function directoryText({ path, holds, besidesNamed, ageNs, isPartial }: DirectoryHolder): string {
  const shown = printable(path);
  const what = isBelowLogs(path) ? `logs in ${shown} hold` : `${shown} holds`;
  const amount = `${isPartial ? 'at least ' : ''}${amountOfBytes(holds.bytes)} in ${counted(holds.inodes, 'inodes')}`;
  const old = ageNs >= MINUTE_NS ? `, ${formatAge(ageNs)}` : '';
  return `${what} ${amount}${besidesNamed ? ' outside its listed subdirectories' : ''}${old}`;
}

function isBelowLogs(path: string): boolean {
  return path === LOGS || isBelow(path, LOGS);
}

/** 'directory: /srv holds 8GiB in 10 inodes'. */
export function holderLine(holder: DiskHolder): string {
  const text = holderText(holder);
  if (holder.kind === 'deleted-files') return `deleted files: ${text}`;
  return holder.kind === 'image' || isBelowLogs(holder.path) ? text : `directory: ${text}`;
}

export function holderJson(holder: DiskHolder): JsonObject {
  const { kind, holds } = holder;
  const bytes = { kind, bytes: jsonInteger(holds.bytes) };
  const held = { ...bytes, inodes: jsonInteger(holds.inodes) };
  switch (kind) {
    case 'image':
      return { ...bytes, name: holder.name, inUse: true };
    case 'deleted-files':
      return {
        ...held,
        processes: holder.processes.map(({ pid, name, cgroup }) => ({ pid, name, ...(cgroup === undefined ? {} : { cgroup }) })),
        processCount: holder.count,
      };
    case 'directory':
      return {
        ...held,
        path: holder.path,
        ...(isBelowLogs(holder.path) && { logs: true }),
        besidesNamed: holder.besidesNamed,
        partial: holder.isPartial,
        measuredSecondsAgo: Number(holder.ageNs / 1_000_000n) / 1e3,
      };
  }
}
