import { jsonInteger, NANO } from '../../core/quantity/integer.js';
import { protectionText, type RankedWorkload } from '../../core/rank/rank.js';
import type { Resource } from '../../core/signal/signal.js';
import type { JsonObject } from '../../core/name/json-text.js';

export function victimOf({ workload, process }: RankedWorkload): JsonObject {
  const { name, path, id } = workload;
  if (process === undefined) return { name, path, id };
  const { pid, command, startTicks, residentBytes, anonBytes, swapBytes, oomScore, group } = process;
  const memory = { residentBytes: jsonInteger(residentBytes), anonBytes: jsonInteger(anonBytes), swapBytes: jsonInteger(swapBytes) };
  const ends = group && { group: { path: group.path } };
  return { name, path, id, process: { pid, command, startTicks: jsonInteger(startTicks), ...memory, oomScore, ...ends } };
}

/**
 * The values of the comparators, in their order; those of other resources than memory have names of their own
 * (docs/journal.md).
 */
export function rankingRow(ranked: RankedWorkload, resource: Resource, nowNs: bigint): JsonObject {
  const { workload, protection } = ranked;
  return {
    place: ranked.place,
    name: workload.name,
    ...(workload.avoid ? { avoid: true } : {}),
    exceedsRequest: ranked.exceedsRequest,
    priority: ranked.priority,
    ...aboveOf(ranked, resource),
    startOrder: jsonInteger(workload.startOrder),
    ...usageOf(ranked, resource),
    ...holdingOf(ranked, nowNs),
    path: workload.path,
    ...(protection ? { protected: protection.kind, protectedBecause: protectionText(protection) } : {}),
  };
}

function aboveOf({ aboveRequestNano }: RankedWorkload, resource: Resource): JsonObject {
  switch (resource) {
    case 'memory':
    case 'ephemeral-storage':
      return { aboveRequestBytes: wholeOrFraction(aboveRequestNano) };
    case 'inodes':
      return { aboveRequestInodes: wholeOrFraction(aboveRequestNano) };
    case 'pids':
      return {};
  }
}

function usageOf({ stats, usage, requestNano, swapped, stays }: RankedWorkload, resource: Resource): JsonObject {
  switch (resource) {
    case 'memory':
      return {
        ...known(
          stats?.workingSetAtMost ? 'workingSetAtMostBytes' : 'workingSetBytes',
          usage === undefined ? undefined : usage - (swapped ?? 0n),
        ),
        ...known('usageBytes', stats?.usageBytes),
        ...known('staysBytes', stays),
        ...known('swapBytes', swapped),
        requestBytes: wholeOrFraction(requestNano),
      };
    case 'ephemeral-storage':
      return { ...known('usedBytes', usage), requestBytes: wholeOrFraction(requestNano) };
    case 'inodes':
      return { ...known('usedInodes', usage), requestInodes: wholeOrFraction(requestNano) };
    case 'pids':
      return known('processes', usage);
  }
}

function holdingOf({ holding }: RankedWorkload, nowNs: bigint): JsonObject {
  if (holding === undefined) return {};
  const { frees, atNs } = holding;
  return {
    freesBytes: jsonInteger(frees.bytes),
    freesInodes: jsonInteger(frees.inodes),
    measuredSecondsAgo: Number((nowNs - atNs) / 1_000_000n) / 1e3,
  };
}

function known(name: string, value: bigint | undefined): JsonObject {
  return value === undefined ? {} : { [name]: jsonInteger(value) };
}

/** A Kubernetes request may be 100.5 bytes; everything else is whole. */
function wholeOrFraction(nano: bigint): number | string {
  return nano % NANO === 0n ? jsonInteger(nano / NANO) : Number(nano) / 1e9;
}
