/** Modules that are bundles of their own, by their file in dist: what is rarely used. The program loads them with import(). */
export const APART = {
  'controller.cjs': 'src/features/controller/controller.ts',
  'could-run.cjs': 'src/features/kubernetes/cluster/could-run.ts',
  'cri.cjs': 'src/host/linux/cri/client.ts',
  'kubernetes.cjs': 'src/features/kubernetes/agent.ts',
  'simulate.cjs': 'src/features/simulate/simulate.ts',
  'top.cjs': 'src/features/status/top/live.ts',
};

/** What the command line consists of beside dist/evictd.js: files in dist. */
export const PROGRAM_FILES = ['program.cjs', 'check.cjs', ...Object.keys(APART)];
