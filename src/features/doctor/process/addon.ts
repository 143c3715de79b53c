import { broken, ok, type Check } from '../check.js';
import { defineCheck } from '../check-kind.js';
import type { RuntimeFacts } from '../../../host/facts/process-facts.js';

const ID = 'process.addon';

/** Without the addon evictd can neither watch nor evict. */
export function checkAddon({ addon, abi, napi }: RuntimeFacts): Check {
  if ('file' in addon) return ok(ID, `${addon.file} loads (Node-API ${napi}, ABI ${abi})`, { file: addon.file, abi, napi });
  return broken(ID, addon.failure, addon.hint ?? 'reinstall evictd', { failure: addon.failure, abi, napi });
}

export const addonCheck = defineCheck(ID, ['runtime'], ({ runtime }) => checkAddon(runtime));
