import { fc } from '../../support/property.js';
import { expect, test } from 'vitest';
import { parseThresholdConfig, type ThresholdConfig } from './threshold-config.js';
import { updateContainerFsThresholds } from '../../../src/core/decide/containerfs.js';
import { formatDuration } from '../../../src/core/quantity/duration.js';
import { KUBELET_SIGNALS, type KubeletSignal } from '../../../src/core/signal/signal.js';
import { thresholdId, thresholdKind, valueText, type Threshold, type ThresholdValue } from '../../../src/core/threshold/threshold.js';

const digits = fc
  .tuple(fc.integer({ min: 1, max: 2 ** 31 }), fc.constantFrom('', '.5', '.125', '.0', '.000000001'))
  .map((parts) => parts.join(''));
const amount = fc.tuple(digits, fc.constantFrom('', 'm', 'k', 'M', 'G', 'e3', 'Ki', 'Mi', 'Gi')).map((parts) => parts.join(''));
const percentage = fc
  .tuple(fc.integer({ min: 1, max: 99 }), fc.constantFrom('', '.5', '.33333333333333'))
  .map((parts) => `${parts.join('')}%`);
const value = fc.oneof(amount, percentage);
const duration = fc.oneof(fc.constant(0n), fc.bigInt(0n, 10n ** 15n));

const bySignal = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<Partial<Record<KubeletSignal, T>>> => {
  return fc.dictionary(fc.constantFrom(...KUBELET_SIGNALS), values, { maxKeys: KUBELET_SIGNALS.length });
};

const config = fc
  .record({ evictionHard: bySignal(value), soft: bySignal(fc.tuple(value, duration)), evictionMinimumReclaim: bySignal(value) })
  .map(({ soft, ...rest }): ThresholdConfig => {
    const softEntries = Object.entries(soft);
    return {
      ...rest,
      enforceNodeAllocatable: [],
      evictionSoft: Object.fromEntries(softEntries.map(([signal, [text]]) => [signal, text])),
      evictionSoftGracePeriod: Object.fromEntries(softEntries.map(([signal, [, ns]]) => [signal, formatDuration(ns)])),
    };
  });

/**
 * Hard ones that the file had as soft ones of no grace period would take each other's place: they go back where they
 * came from.
 */
function written(thresholds: readonly Threshold[], from: ThresholdConfig): ThresholdConfig {
  const isSoft = (threshold: Threshold, index: number): boolean => {
    const first = thresholds.findIndex(({ signal }) => signal === threshold.signal);
    return (
      thresholdKind(threshold) === 'soft' ||
      (threshold.signal in from.evictionSoft && (index !== first || !(threshold.signal in from.evictionHard)))
    );
  };
  const soft = thresholds.filter(isSoft);
  const hard = thresholds.filter((threshold, index) => !isSoft(threshold, index));
  return {
    enforceNodeAllocatable: [],
    evictionHard: Object.fromEntries(hard.map((threshold) => [threshold.signal, valueText(threshold.value)])),
    evictionSoft: Object.fromEntries(soft.map((threshold) => [threshold.signal, valueText(threshold.value)])),
    evictionSoftGracePeriod: Object.fromEntries(soft.map(({ signal, gracePeriodNs }) => [signal, formatDuration(gracePeriodNs)])),
    evictionMinimumReclaim: Object.fromEntries(
      thresholds.flatMap(({ signal, minReclaim }) => (minReclaim ? [[signal, valueText(minReclaim)]] : [])),
    ),
  };
}

/** What it means: 1.5Ki of bytes may print as a decimal number, and that another way when it is read again. */
function meaning({ signal, gracePeriodNs, value: of, minReclaim }: Threshold): unknown[] {
  const amountOf = (one: ThresholdValue): bigint | number => (one.kind === 'quantity' ? one.quantity.nano : one.fraction);
  return [signal, gracePeriodNs, amountOf(of), minReclaim && amountOf(minReclaim)];
}

test('printed thresholds parse to the same thresholds', () => {
  fc.assert(
    fc.property(config, (given) => {
      const thresholds = parseThresholdConfig(given);
      const again = parseThresholdConfig(written(thresholds, given));
      expect(again.map(meaning)).toEqual(thresholds.map(meaning));
    }),
  );
});

test('updating the thresholds of the container filesystem twice changes nothing, and touches no other signal', () => {
  fc.assert(
    fc.property(config, fc.constantFrom('single', 'imagefs', 'split'), (given, layout) => {
      const thresholds = parseThresholdConfig(given).filter(
        ({ signal, gracePeriodNs }) => !signal.startsWith('containerfs.') || gracePeriodNs > 0n,
      );
      const once = updateContainerFsThresholds(thresholds, layout).thresholds;
      const others = (list: readonly Threshold[]) => list.filter(({ signal }) => !signal.startsWith('containerfs.')).map(thresholdId);
      expect(others(once)).toEqual(others(thresholds));
      expect(updateContainerFsThresholds(once, layout).thresholds.map(thresholdId).sort()).toEqual(once.map(thresholdId).sort());
    }),
  );
});
