import { selectHost } from '../../host/select.js';
import type { SourceProblem } from '../../monitor/ports.js';
import { pause } from './deadline.js';

/** As long as systemctl is waited for. */
const PATIENCE_MS = 1_500;
const LOOK_MS = 10;
/** Wherever systemd is the init it has this one. */
const ASKED = 'init.scope';

/** Why systemd cannot be asked about its units, or stop them: it is asked about one. undefined: it answers, or it is not the init of this machine. */
export async function unitsProblem(): Promise<SourceProblem | undefined> {
  const units = selectHost().openUnitManager();
  try {
    if (!units.awaited(ASKED)) return undefined;
    for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_MS) {
      units.follow([ASKED]);
      if (units.unit(ASKED) !== undefined) return undefined;
      await pause(LOOK_MS);
    }
    return (
      units.problem() ?? {
        code: 'EVICTD_SYSTEMD_UNREACHABLE',
        message: `systemd has not answered within ${String(PATIENCE_MS)} ms: units would be ended by signals`,
        hint: 'systemctl status answers late, too, where systemd itself is in trouble: journalctl _PID=1',
      }
    );
  } finally {
    units.close();
  }
}
