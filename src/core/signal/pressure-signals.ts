import {
  STALL_AVERAGES,
  STALL_KINDS,
  type PressureParts,
  type StallAverage,
  type StallKind,
  type StallResource,
} from './signal-definition.js';
import { MEMORY } from './memory-signals.js';

export type PressureSignal<R extends StallResource = StallResource> = `${R}.pressure.${StallKind}${StallAverage}`;

const SPANS_NS: Readonly<Record<StallAverage, bigint | undefined>> = {
  '': undefined,
  '.avg10': 10_000_000_000n,
  '.avg60': 60_000_000_000n,
  '.avg300': 300_000_000_000n,
};

export interface PressureRow<R extends StallResource> {
  readonly name: PressureSignal<R>;
  readonly operator: '>';
  readonly unit: 'share';
  readonly kubelet: false;
  readonly pressure: PressureParts;
  readonly absentOnWindows: string;
}

function pressureOf<R extends StallResource>(resource: R): readonly PressureRow<R>[] {
  return STALL_KINDS.flatMap((kind) =>
    STALL_AVERAGES.map((average) => ({
      name: `${resource}.pressure.${kind}${average}` as const,
      operator: '>',
      unit: 'share',
      kubelet: false,
      pressure: { resource, kind, average, spanNs: SPANS_NS[average] },
      absentOnWindows: 'Windows does not measure how long tasks wait (pressure)',
    })),
  );
}

export const memoryPressureSignals = pressureOf('memory').map((row) => ({ ...row, ...MEMORY }));
/** They do not identify the workload that causes the pressure, so they only alert. */
export const ioPressureSignals = pressureOf('io');
export const cpuPressureSignals = pressureOf('cpu');
