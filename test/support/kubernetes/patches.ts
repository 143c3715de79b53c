type Json = unknown;
type Fields = Record<string, Json>;

/** RFC 7396: lists are replaced, null deletes. */
export function mergePatched(target: Json, patch: Json): Json {
  if (!isFields(patch)) return patch;
  const merged: Fields = isFields(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(merged, key);
    else merged[key] = mergePatched(merged[key], value);
  }
  return merged;
}

/** The keys by which lists are merged (patchMergeKey in k8s.io/api/core/v1). Every other list is replaced, spec.taints included. */
const MERGE_KEYS: Readonly<Record<string, string>> = { conditions: 'type', addresses: 'type', ownerReferences: 'uid', containers: 'name' };

/** A strategic merge patch, as far as evictd and kubectl send one: of the directives only that which removes an item of a list. */
export function strategicPatched(target: Json, patch: Json, key = ''): Json {
  const by = MERGE_KEYS[key];
  if (Array.isArray(patch) && by !== undefined) {
    const list: Json[] = Array.isArray(target) ? [...(target as Json[])] : [];
    for (const item of patch as Fields[]) {
      const at = list.findIndex((each) => (each as Fields)[by] === item[by]);
      if (item.$patch === 'delete') {
        if (at >= 0) list.splice(at, 1);
      } else if (at < 0) list.push(item);
      else list[at] = strategicPatched(list[at], item);
    }
    return list;
  }
  if (!isFields(patch)) return patch;
  const merged: Fields = isFields(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith('$')) continue; // $setElementOrder: kubectl says in which order
    if (value === null) Reflect.deleteProperty(merged, name);
    else merged[name] = strategicPatched(merged[name], value, name);
  }
  return merged;
}

/**
 * The first field of an applied object that another manager has set to another value: '.spec.taints'. undefined: there is none. Every
 * field that is set counts as another manager's.
 */
export function appliedConflict(target: Json, applied: Json, at = ''): string | undefined {
  if (isFields(applied) && isFields(target)) {
    for (const [name, value] of Object.entries(applied)) {
      const conflict = name in target && !(name in MERGE_KEYS) ? appliedConflict(target[name], value, `${at}.${name}`) : undefined;
      if (conflict !== undefined) return conflict;
    }
    return undefined;
  }
  return JSON.stringify(target) === JSON.stringify(applied) ? undefined : at;
}

function isFields(value: Json): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
