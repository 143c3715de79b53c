import type { ConfigNotice, LoadedConfig } from '../../config/config.js';
import { amountOfBytes } from '../../core/quantity/amount.js';
import { jsonInteger } from '../../core/quantity/integer.js';
import type { MemoryReserve } from '../../core/signal/memory-reserve.js';
import { EVICTS_NOTHING } from '../../config/lint/lint-rule.js';
import type { MachineFacts } from '../../config/lint/machine.js';
import { formatIssue } from '../../cli/output/error-text.js';
import { jsonDocument } from '../../core/name/json-text.js';

/** The machine with which a configuration was compared. */
export type CheckedMachine =
  | { readonly kind: 'read'; readonly facts: MachineFacts }
  | { readonly kind: 'offline' }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** A valid configuration and the notices about it. */
export interface Checked {
  readonly loaded: LoadedConfig;
  readonly machine: CheckedMachine;
  readonly notices: readonly ConfigNotice[];
}

/** One line about the configuration, one about the machine, then the notices. */
export function checkedText({ loaded, machine, notices }: Checked): string {
  const { thresholds, workloads, rules, policies } = loaded.config;
  const setBy = [...loaded.origins.values()].flatMap(({ origin }) => (origin.kind === 'set' ? [origin.position.file] : []));
  const sources = [...new Set([...loaded.written.files.map(({ file }) => file), ...setBy.sort()])];
  const counts = [
    count(thresholds.length, 'threshold'),
    count(workloads.length, 'workload source'),
    count(rules.length, 'rule'),
    ...(policies.length === 0 ? [] : [policies.length === 1 ? '1 policy' : `${String(policies.length)} policies`]),
  ].join(', ');
  const lines = [
    `configuration valid${butText(notices)}: ${counts} (${sources.length === 0 ? 'defaults only' : `from ${sources.join(', ')}`})`,
    machineText(machine),
    ...notices.map((notice) => `${notice.level}: ${formatIssue(notice)}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** A valid configuration may still be of no use here. */
function butText(notices: readonly ConfigNotice[]): string {
  const errors = notices.filter(({ level }) => level === 'error');
  if (errors.some(({ code }) => EVICTS_NOTHING.has(code))) return ', but evicts nothing';
  return errors.length === 0 ? '' : `, but has ${count(errors.length, 'error')}`;
}

export function checkedJson({ machine, notices }: Checked): string {
  return jsonDocument({ valid: true, issues: [], notices, machine: machineJson(machine) });
}

const SKIPPED = 'checks of capacities, notifiers and workloads are skipped';

function machineText(machine: CheckedMachine): string {
  switch (machine.kind) {
    case 'read': {
      const { capacities, reserve, workloads } = machine.facts;
      const bytes = capacities.get('memory.available');
      const parts = [
        bytes === undefined ? 'memory unknown' : `${amountOfBytes(bytes)} of memory`,
        reserve === undefined ? 'min_free_kbytes and huge pages unknown' : '',
        workloads === undefined ? '' : count(workloads.present.length, 'workload'),
      ].filter((part) => part !== '');
      return `checked against this machine: ${parts.join(', ')}`;
    }
    case 'offline':
      return `not checked against a machine (--offline): ${SKIPPED}`;
    case 'unreadable':
      return `not checked against this machine: ${SKIPPED}: ${machine.reason}`;
  }
}

function machineJson(machine: CheckedMachine): unknown {
  if (machine.kind !== 'read') return machine;
  const { capacities, reserve, polled, workloads } = machine.facts;
  return {
    kind: 'read',
    capacities: Object.fromEntries([...capacities].map(([signal, capacity]) => [signal, jsonInteger(capacity)])),
    reserve: reserve === undefined ? null : reserveJson(reserve),
    polled: Object.fromEntries(polled),
    workloads: workloads === undefined ? null : workloads.present.length,
  };
}

function reserveJson({ totalBytes, minFreeBytes, hugePagesBytes, kernelBytes }: MemoryReserve): unknown {
  return {
    totalBytes: jsonInteger(totalBytes),
    minFreeBytes: jsonInteger(minFreeBytes),
    hugePagesBytes: jsonInteger(hugePagesBytes),
    kernelBytes: jsonInteger(kernelBytes),
  };
}

function count(number: number, noun: string): string {
  return `${String(number)} ${noun}${number === 1 ? '' : 's'}`;
}
