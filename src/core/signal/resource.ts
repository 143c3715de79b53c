/** What can run out, in the kubelet's words. Evictions for the same resource exclude each other. */
export const RESOURCES = ['memory', 'ephemeral-storage', 'inodes', 'pids'] as const;
export type Resource = (typeof RESOURCES)[number];

export const CONDITION_TYPES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;
export type ConditionType = (typeof CONDITION_TYPES)[number];
