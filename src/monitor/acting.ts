import type { Effect } from '../core/effect.js';
import type { Wake } from './ports.js';
import type { Reclaims } from './reclaims.js';
import type { Releases } from './releases.js';
import type { Reporter } from './reporter.js';
import type { Victims } from './victims.js';

/** What acts. */
export interface Actors {
  readonly victims: Victims;
  readonly reclaims: Reclaims;
  /** undefined: there is no systemd, and nobody is kept stopped. */
  readonly releases: Releases | undefined;
  readonly reporter: Reporter;
  /** Node-level reclaim is over. */
  readonly onReclaimed: () => void;
}

/** What of an effect cannot wait. */
export function act(effect: Effect, wake: Wake, wakeNs: bigint, { victims, reclaims, releases, reporter, onReclaimed }: Actors): void {
  switch (effect.kind) {
    case 'evict': {
      if (effect.decision.dryRun) return;
      const { crossingNs, signalNs } = victims.begin(effect.decision, wake, wakeNs);
      if (signalNs !== undefined) reporter.signalled(signalNs - crossingNs);
      return;
    }
    case 'escalate':
      victims.escalate(effect.decision);
      return;
    case 'reclaim':
      reclaims.begin(effect.reclaim, onReclaimed);
      return;
    case 'release':
      releases?.begin(effect.hold);
      return;
    case 'attempt':
    case 'outcome':
    case 'reclaimed':
    case 'threshold':
    case 'condition':
    case 'alert':
    case 'error':
      return;
  }
}
