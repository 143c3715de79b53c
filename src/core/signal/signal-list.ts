import type { SignalDefinition } from './signal-definition.js';
import { filesystemSignals } from './filesystem-signals.js';
import { allocatableMemoryAvailable, memoryAvailable, memoryKernelAvailable } from './memory-signals.js';
import { pidAvailable } from './pid-signal.js';
import { cpuPressureSignals, ioPressureSignals, memoryPressureSignals } from './pressure-signals.js';
import { swapAvailable } from './swap-signal.js';

/**
 * All signals, in the order in which they are shown and, where no other rule decides, acted on. The kubelet's come
 * first. To add a signal, write its definition into a file beside this one and add one line here; the compiler then
 * names each reader in host/ that is missing.
 */
export const SIGNAL_LIST = [
  memoryAvailable,
  allocatableMemoryAvailable,
  ...filesystemSignals,
  pidAvailable,
  memoryKernelAvailable,
  ...memoryPressureSignals,
  swapAvailable,
  ...ioPressureSignals,
  ...cpuPressureSignals,
] as const satisfies readonly SignalDefinition[];
