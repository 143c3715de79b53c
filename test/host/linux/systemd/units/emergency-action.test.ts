import { expect, test } from 'vitest';
import { emergencyActionOf } from '../../../../../src/host/linux/systemd/units/emergency-action.js';

const DEFAULTS = {
  FailureAction: 'none',
  SuccessAction: 'none',
  StartLimitAction: 'none',
  OnFailure: [],
  OnFailureJobMode: 'replace',
  OnSuccess: [],
  OnSuccessJobMode: 'fail',
};

test.each<[unit: Record<string, unknown>, restart: string, expected: string | undefined]>([
  [{}, 'always', undefined],
  [{ FailureAction: 'reboot' }, 'no', 'FailureAction=reboot'],
  [{ FailureAction: 'reboot-immediate' }, 'always', 'FailureAction=reboot-immediate'],
  [{ FailureAction: 'exit' }, '', 'FailureAction=exit'],
  [{ SuccessAction: 'soft-reboot' }, 'no', 'SuccessAction=soft-reboot'],
  [{ StartLimitAction: 'reboot' }, 'no', undefined],
  [{ StartLimitAction: 'reboot' }, '', undefined],
  [{ StartLimitAction: 'reboot' }, 'on-failure', 'StartLimitAction=reboot'],
  [{ OnFailure: ['mail@batch.service'] }, 'no', undefined],
  [{ OnFailureJobMode: 'isolate' }, 'no', undefined],
  [{ OnFailure: ['rescue.target'], OnFailureJobMode: 'isolate' }, 'no', 'OnFailure=rescue.target with OnFailureJobMode=isolate'],
  [{ OnSuccess: ['done.target'], OnSuccessJobMode: 'isolate' }, 'no', 'OnSuccess=done.target with OnSuccessJobMode=isolate'],
  [{ OnFailure: ['mail.service', 'reboot.target'] }, 'no', 'OnFailure=reboot.target'],
])('the emergency action of %j with Restart=%s', (unit, restart, expected) => {
  expect(emergencyActionOf({ ...DEFAULTS, ...unit }, restart)).toBe(expected);
});

test('a systemd that knows none of these properties has no emergency action', () => {
  expect(emergencyActionOf({}, 'always')).toBeUndefined();
});
