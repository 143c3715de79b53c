import type { StepListener } from '../monitor/ports/ports.js';

/** Runs tasks that a step should not wait for, in order: right after a step that a tick caused or that had effects. */
export function idleTasks(tasks: readonly (() => void)[]): StepListener {
  let isWaiting = false;
  return {
    stepped: ({ wake, effects }) => {
      if (isWaiting || (wake.source !== 'tick' && effects.length === 0)) return;
      isWaiting = true;
      queueMicrotask(() => {
        isWaiting = false;
        for (const task of tasks) task();
      });
    },
    close: () => undefined,
  };
}
