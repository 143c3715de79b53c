import { posix } from 'node:path';
import ts from 'typescript';

/** A file by its path from the repository's root ('src/core/rank.ts'). */
export interface SourceText {
  readonly path: string;
  readonly text: string;
}

/**
 * The dependency rule (docs/architecture.md): what the files below src/ may import, by layer. A layer is a directory or
 * a top-level file. An entry is a layer or, with a slash, one module of it. Packages and node: modules are not named
 * here: only core is without them.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  launch: ['launch'],
  evictd: ['cli', 'compose', 'errors', 'log'],
  cli: [
    'cli',
    'compose',
    'monitor',
    'metrics/metric',
    'metrics/node-metrics',
    'workloads/source-spec',
    'reclaim/gain',
    'kubernetes',
    'install',
    'lint',
    'doctor',
    'config',
    'core',
    'errors',
    'log',
  ],
  compose: [
    'compose',
    'monitor',
    'host',
    'workloads',
    'actions',
    'reclaim',
    'metrics',
    'native',
    'kubernetes',
    'install',
    'lint',
    'doctor',
    'config',
    'core',
    'errors',
    'log',
  ],
  index: ['monitor', 'host', 'workloads', 'actions', 'metrics', 'native', 'config', 'core', 'errors', 'log'],
  monitor: ['monitor', 'core', 'directory', 'errors', 'log'],
  host: ['host', 'monitor/ports', 'monitor/shutdown-delay', 'doctor/facts', 'native', 'core', 'directory', 'errors', 'log'],
  workloads: ['workloads', 'config/scalar', 'config/text', 'monitor/ports', 'native', 'core', 'errors', 'log'],
  actions: ['actions', 'monitor/ports', 'native', 'core', 'errors', 'log'],
  reclaim: ['reclaim', 'monitor/ports', 'native', 'core', 'errors'],
  metrics: ['metrics', 'monitor/ports', 'monitor/publisher', 'core', 'errors', 'log'],
  kubernetes: ['kubernetes', 'core', 'errors'],
  install: ['install', 'directory', 'errors'],
  lint: ['lint', 'workloads/source-spec', 'core'],
  doctor: ['doctor', 'core'],
  native: ['native', 'errors'],
  config: ['config', 'workloads/source-kind', 'workloads/source-spec', 'workloads/sources', 'core', 'errors'],
  log: ['log', 'config/config', 'core', 'errors'],
  core: ['core'],
  directory: ['errors'],
  errors: [],
};

/** Globals, as `name` or `name.property`, and the only files that may use them. */
const confined: readonly { readonly uses: readonly string[]; readonly to: readonly string[]; readonly reason: string }[] = [
  { uses: ['process.exit', 'process.abort'], to: ['src/evictd.ts'], reason: 'the process edge decides when to end' },
  { uses: ['process.platform', 'os.platform'], to: ['src/host/select.ts'], reason: 'the platform is chosen once' },
  {
    uses: ['setTimeout', 'setInterval', 'setImmediate', 'node:timers', 'node:timers/promises'],
    // Outside the monitor a timer only bounds a wait: for a filesystem, for what is on a disk, for systemd, or for
    // whoever reads the log, scrapes, answers a reload, watches the demo, or is asked by doctor.
    to: [
      'src/monitor/',
      'src/host/linux/systemd/bus-link.ts',
      'src/host/linux/systemd/inhibit-delay.ts',
      'src/host/linux/systemd/inhibitor.ts',
      'src/host/linux/systemd/login-manager.ts',
      'src/host/linux/systemd/shutdown-delay.ts',
      'src/host/linux/systemd/transient-units.ts',
      'src/host/windows/requests.ts', // looks for what an operator asks
      'src/log/destination.ts',
      'src/metrics/server.ts',
      'src/cli/reclaim.ts',
      'src/cli/reload.ts',
      'src/cli/demo',
      'src/compose/doctor/deadline.ts',
      'src/native/answered.ts',
      'src/workloads/disk-measurement.ts', // yields
    ],
    reason: 'the monitor has the only timers that lead to a decision',
  },
];

const impure = ['Date', 'process', 'performance', 'console', 'setTimeout', 'setInterval', 'setImmediate', 'Buffer', 'fetch', 'require'];

/** Every breach of the rules above in `files`, as 'path:line: sentence'. */
export function violations(files: readonly SourceText[]): string[] {
  return files.flatMap(({ path, text }) => {
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    const layer = layerOf(path);
    const found: string[] = [];
    const report = (node: ts.Node, sentence: string) =>
      found.push(`${path}:${String(source.getLineAndCharacterOfPosition(node.getStart()).line + 1)}: ${sentence}`);

    if (!(layer in mayImport)) found.push(`${path}:1: ${layer} is no layer of the architecture`);
    walk(source, (node) => {
      const specifier = importedBy(node);
      if (specifier?.startsWith('.') && !importAllowed(path, specifier)) report(node, `${layer} may not import ${specifier}`);
      if (specifier && !specifier.startsWith('.') && layer === 'core') report(node, `core imports core only, not ${specifier}`);

      const used = specifier ?? globalUse(node);
      if (used === undefined) return;
      if (layer === 'core' && impure.includes(used.split('.')[0] ?? '')) report(node, `core is pure: no ${used}`);
      for (const { uses, to, reason } of confined) {
        if (uses.includes(used) && !to.some((allowed) => path.startsWith(allowed))) report(node, `${used} is not allowed here: ${reason}`);
      }
    });
    return found;
  });
}

/** The error codes that a file names in its string literals. */
export function errorCodes({ path, text }: SourceText): string[] {
  const codes: string[] = [];
  walk(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true), (node) => {
    if (ts.isStringLiteralLike(node) && /^EVICTD(_[A-Z0-9]+)+$/.test(node.text)) codes.push(node.text);
  });
  return codes;
}

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** 'src/core/rank.ts' → 'core', 'src/errors.ts' → 'errors'. */
function layerOf(path: string): string {
  const [, first = ''] = path.split('/');
  return first.replace(/(\.d)?\.ts$/, '');
}

function importAllowed(from: string, specifier: string): boolean {
  const target = posix.join(posix.dirname(from), specifier);
  if (!target.startsWith('src/')) return target === 'package.json'; // the version
  const module = target.slice('src/'.length).replace(/\.js$/, '');
  return (mayImport[layerOf(from)] ?? []).some((allowed) => module === allowed || module.startsWith(`${allowed}/`));
}

/** What an import, a re-export, an `import()` (of a value or of a type) or a `require()` names. */
function importedBy(node: ts.Node): string | undefined {
  const named = (expression: ts.Node | undefined) => (expression && ts.isStringLiteralLike(expression) ? expression.text : undefined);
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return named(node.moduleSpecifier);
  if (ts.isImportTypeNode(node)) return named(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined);
  if (ts.isExternalModuleReference(node)) return named(node.expression);
  if (!ts.isCallExpression(node)) return undefined;
  const isImport =
    node.expression.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(node.expression) && node.expression.text === 'require');
  return isImport ? named(node.arguments[0]) : undefined;
}

/**
 * 'process.exit' for `process.exit` and for `import { exit } from 'node:process'`, 'Date' for `new Date()`; undefined
 * for what only bears the name: a property, a key, a declaration.
 */
function globalUse(node: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) return `${node.expression.text}.${node.name.text}`;
  if (ts.isImportSpecifier(node)) {
    const module = importedBy(node.parent.parent.parent)?.replace('node:', '') ?? '';
    return `${module}.${(node.propertyName ?? node.name).text}`;
  }
  if (!ts.isIdentifier(node)) return undefined;
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return undefined; // its object was seen with the property
  if ('name' in parent && parent.name === node && !ts.isShorthandPropertyAssignment(parent)) return undefined;
  return node.text;
}
