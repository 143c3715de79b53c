import type { InstanceFacts, ReloadFacts } from '../../../host/facts/process-facts.js';
import { readReloadAnswer } from '../../../state/reload-answer.js';

/** Ignores the answer of an earlier evictd. */
export function reloadOf(instance: InstanceFacts, path: string): ReloadFacts {
  if (instance.kind !== 'running') return { refused: undefined };
  try {
    const answer = readReloadAnswer(path);
    return { refused: answer?.pid === instance.pid ? answer.refused : undefined };
  } catch (error) {
    return { unseen: `${path}: ${error instanceof Error ? error.message : String(error)}` };
  }
}
