/**
 * Which filesystems a node has. `single`: one for everything. `imagefs`: images and containers on one of their own. `split`: images on one of their
 * own, containers on the node filesystem, and a container filesystem is reported.
 */
export type Layout = 'single' | 'imagefs' | 'split';

/** Node-level reclaim: what can be thrown away without hurting a workload. */
export type Collection = 'containers' | 'images';
