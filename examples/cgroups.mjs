// Prints what each child of a cgroup uses, the largest first, in one pass.
//
//   node cgroups.mjs /sys/fs/cgroup/system.slice
import { existsSync, readdirSync } from 'node:fs';
import { formatBytes, native } from 'evictd';

const [root = '/sys/fs/cgroup/system.slice'] = process.argv.slice(2);
if (!existsSync(`${root}/cgroup.procs`)) {
  console.error(`${root} is not a cgroup: name a directory below /sys/fs/cgroup (of the memory controller on cgroup v1)`);
  process.exit(66);
}
const file = existsSync(`${root}/memory.usage_in_bytes`) ? 'memory.usage_in_bytes' : 'memory.current';
const table = new native.CgroupTable([{ path: file, format: 'number' }]);

const names = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const rows = new Map(names.map(({ name }) => [table.add(`${root}/${name}`), name]));

const values = new Float64Array(table.rowCount * table.columns);
const errors = new Int32Array(table.rowCount);
table.read(values, errors); // allocates nothing: call it as often as you like
for (const [row, name] of [...rows].sort(([a], [b]) => values[b] - values[a])) {
  console.log(errors[row] === 0 ? `${formatBytes(BigInt(values[row]))}  ${name}` : `errno ${errors[row]}  ${name}`);
}
table.close();
