import type { AlertDefinition } from './signal-definition.js';

export const swapAvailable = {
  name: 'swap.available',
  operator: '<',
  unit: 'bytes',
  kubelet: false,
  absentOnWindows: 'the page files count in the commit limit, which memory.available covers',
} as const satisfies AlertDefinition;
