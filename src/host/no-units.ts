import type { UnitManager } from '../monitor/ports/ports.js';

/** Where systemd is not the init: no unit is known. */
export const noUnits: UnitManager = {
  connect: () => false,
  unit: () => undefined,
  follow: () => undefined,
  awaited: () => false,
  lookAgain: () => undefined,
  watch: () => undefined,
  request: () => undefined,
  problem: () => undefined,
  close: () => undefined,
};
