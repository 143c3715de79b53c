import { parseTaint, TaintError } from '../../core/disruption/taint.js';
import { parseQuantity, QuantityError, quantityValue } from '../../core/quantity/quantity.js';
import type { SimulatedAction } from '../../core/simulation/timeline-event.js';
import { UsageError } from '../../errors.js';
import type { AddedPods } from './added-pods.js';
import type { WrittenAction } from './written-command.js';
import type { DumpedCluster } from '../kubernetes/cluster/cluster-dump.js';

/** @throws UsageError  a text is not an action, or its node is in no file */
export function actionsOf(written: readonly WrittenAction[], { content }: DumpedCluster, added: AddedPods): readonly SimulatedAction[] {
  const nodes = new Set(content.nodes.map(({ name }) => name));
  const known = (node: string): string => {
    if (nodes.has(node)) return node;
    const some = [...nodes].slice(0, 5).join(', ');
    throw usage(
      `no node ${JSON.stringify(node)} in the input`,
      nodes.size === 0 ? 'the input has no node' : `use one of ${some}${nodes.size > 5 ? ', …' : ''}`,
    );
  };
  return written.map((action): SimulatedAction => {
    const [first = '', second] = action.values;
    switch (action.option) {
      case 'pressure':
        return pressureOf(first, known);
      case 'drain':
      case 'fail':
        return { kind: action.option, node: known(first) };
      case 'taint':
        return { kind: 'taint', node: known(first), taint: taintOf(second) };
      case 'add':
        return { kind: 'add', pods: added.read(first, action.replicas), what: first };
    }
  });
}

function pressureOf(text: string, known: (node: string) => string): SimulatedAction {
  const [, node = '', signal = '', sign = '', amount = ''] = /^(.*):([^:=]+)=([-+]?)(.+)$/.exec(text) ?? [];
  if (node === '') throw usage(`--pressure: ${JSON.stringify(text)} is not NODE:memory=AMOUNT`, 'write NODE:memory=20Gi');
  if (signal !== 'memory' && signal !== 'memory.available')
    throw usage(`--pressure: ${JSON.stringify(signal)} is not simulated`, 'use memory: the files do not contain the disk usage of pods');
  if (sign === '+') throw usage('--pressure: more memory is not pressure', 'write an amount, or - and an amount');
  try {
    const bytes = quantityValue(parseQuantity(amount));
    return { kind: 'pressure', node: known(node), availableBytes: sign === '-' ? -bytes : bytes, isChange: sign === '-' };
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    throw usage(`--pressure: ${JSON.stringify(amount)}: ${error.message}`, 'write an amount such as 500Mi or 20Gi');
  }
}

function taintOf(text: string | undefined): ReturnType<typeof parseTaint> {
  if (text === undefined) throw usage('--taint needs a node and a taint', 'write --taint node-1 maintenance=yes:NoExecute');
  try {
    return parseTaint(text);
  } catch (error) {
    if (!(error instanceof TaintError)) throw error;
    throw usage(`--taint: ${error.message}`, error.hint);
  }
}

function usage(message: string, hint: string): UsageError {
  return new UsageError('EVICTD_USAGE', message, { hint });
}
