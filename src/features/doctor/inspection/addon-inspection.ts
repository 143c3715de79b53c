import type { RuntimeFacts } from '../../../host/facts/process-facts.js';
import { EvictdError } from '../../../errors.js';
import type { Binding } from '../../../native/binding.js';

export interface LoadedAddon {
  /** undefined: it does not load. */
  readonly native: Binding | undefined;
  readonly facts: RuntimeFacts;
}

export async function loadAddon(): Promise<LoadedAddon> {
  const { arch, version, versions } = process;
  const facts = { node: version, arch, abi: versions.modules, napi: versions.napi ?? '?' };
  try {
    const { native, addonPath } = await import('../../../native/index.js');
    return { native, facts: { ...facts, addon: { file: addonPath } } };
  } catch (error) {
    const cause = error instanceof EvictdError && error.cause instanceof Error ? `: ${error.cause.message.split('\n')[0] ?? ''}` : '';
    const failure = `${error instanceof Error ? error.message : String(error)}${cause}`;
    return { native: undefined, facts: { ...facts, addon: { failure, hint: error instanceof EvictdError ? error.hint : undefined } } };
  }
}
