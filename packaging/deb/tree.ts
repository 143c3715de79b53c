import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { STARTER_CONFIG } from '../../src/features/install/systemd/starter-config.js';
import { SERVICE, serviceUnit, SLICE, sliceUnit } from '../../src/features/install/systemd/units.js';
import { copyright, LIBRARY, plantProgram, PROGRAM, treeBelow, type Architecture } from '../program-tree.js';

const ORIGIN = 'Part of the package evictd. Changes belong into a drop-in: systemctl edit evictd';
const DOCUMENTATION = '/usr/share/doc/evictd';

/** Files for monitoring systems. */
const MONITORING = ['grafana', 'icinga2', 'kubernetes', 'nagios', 'prometheus'];

const CONFIG = '/etc/evictd/config.yaml';
/** Where each shell looks for the scripts of packages. */
const COMPLETIONS = {
  bash: '/usr/share/bash-completion/completions/evictd',
  zsh: '/usr/share/zsh/vendor-completions/_evictd',
  fish: '/usr/share/fish/vendor_completions.d/evictd.fish',
};

export const CONFFILES = [CONFIG];

/** Puts what the package installs below `root`, from the built tree in the current directory. */
export function plantTree(root: string, architecture: Architecture, changelog: string): void {
  const tree = treeBelow(root);
  const { write, copy } = tree;
  const packed = (path: string, text: string | Uint8Array): void => {
    write(`${path}.gz`, gzipSync(text, { level: 9 }));
  };
  plantProgram(tree, architecture, false);
  write('/usr/bin/evictd', `#!/bin/sh\nexec ${PROGRAM.join(' ')} "$@"\n`, 0o755);
  const documentation = `${DOCUMENTATION}/README.md`;
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
  for (const page of readdirSync('dist/man')) packed(`/usr/share/man/man${page.slice(-1)}/${page}`, readFileSync(`dist/man/${page}`));
  for (const [shell, path] of Object.entries(COMPLETIONS)) copy(`dist/completion/evictd.${shell}`, path);
  copy('dist/evictd.schema.json', `${LIBRARY}/dist/evictd.schema.json`);
  copy('examples', `${DOCUMENTATION}/examples`);
  for (const directory of MONITORING) copy(`packaging/${directory}`, `/usr/share/evictd/${directory}`);
  copy('CHANGELOG.md', `${DOCUMENTATION}/CHANGELOG.md`);
  packed(`${DOCUMENTATION}/changelog`, changelog);
  write(`${DOCUMENTATION}/copyright`, copyright(architecture));
  copy('packaging/deb/lintian-overrides', '/usr/share/lintian/overrides/evictd');
}
