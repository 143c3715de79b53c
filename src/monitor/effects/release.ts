import type { Effect } from '../../core/decide/effect.js';
import { releaseText } from '../../core/message/unit-message.js';
import type { JournalRecord } from '../../journal/records/record.js';
import type { EffectHandler } from './handler.js';

type Release = Extract<Effect, { kind: 'release' }>;

/** A unit that was kept stopped is started again. */
export const release: EffectHandler<Release> = {
  record: releaseRecord,
  perform: ({ hold }, { releases }) => {
    releases?.begin(hold);
  },
  log: ({ hold: { decision, unit } }) => ({ level: 'info', fields: { decision, unit } }),
};

export function releaseRecord({ hold }: Pick<Release, 'hold'>): JournalRecord {
  return { type: 'release', decision: hold.decision, unit: hold.unit, start: hold.start, message: releaseText(hold) };
}
