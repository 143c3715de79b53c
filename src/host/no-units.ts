import type { UnitManager } from '../monitor/ports/ports.js';

/** The units of a machine whose init is not systemd: none is known. */
export const noUnits: UnitManager = {
  connect: () => false,
  unit: () => undefined,
  follow: () => undefined,
  unfollow: () => undefined,
  awaited: () => false,
  lookAgain: () => undefined,
  watch: () => undefined,
  request: () => undefined,
  problem: () => undefined,
  close: () => undefined,
};
