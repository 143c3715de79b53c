import type { StepListener } from '../monitor/ports/ports.js';

/** Runs tasks that a step should not wait for, in order: right after a tick, and after a step that had effects. */
export function idleTasks(tasks: readonly (() => void)[]): StepListener {
  let isWaiting = false;
  const run = (): void => {
    if (isWaiting) return;
    isWaiting = true;
    queueMicrotask(() => {
      isWaiting = false;
      for (const task of tasks) task();
    });
  };
  return {
    stepped: ({ wake, effects }) => {
      if (wake.source === 'tick' || effects.length > 0) run();
    },
    skipped: () => {
      run();
      return true;
    },
    close: () => undefined,
  };
}
