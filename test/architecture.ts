import { posix } from 'node:path';
import ts from 'typescript';
import { layerOf, mayImport, PURE } from './layers.js';

/** A file by its path from the repository's root ('src/core/rank/rank.ts'). */
export interface SourceText {
  readonly path: string;
  readonly text: string;
}

/** Globals, as `name` or `name.property`, and the only files that may use them. */
const confined: readonly { readonly uses: readonly string[]; readonly to: readonly string[]; readonly reason: string }[] = [
  { uses: ['process.exit', 'process.abort'], to: ['src/evictd.ts'], reason: 'the process edge decides when to end' },
  { uses: ['process.platform', 'os.platform'], to: ['src/host/select.ts'], reason: 'the platform is chosen once' },
  {
    uses: ['setTimeout', 'setInterval', 'setImmediate', 'node:timers', 'node:timers/promises'],
    // Outside of the loop a timer only limits a wait, retries a write or polls for an operator's request.
    to: [
      'src/monitor/',
      'src/features/controller/', // follows a lease, looks again
      'src/features/demo/',
      'src/features/eviction/', // asks again
      'src/features/history/follow.ts', // reads again
      'src/features/hooks/',
      'src/features/kubernetes/', // limits waits, tries again
      'src/features/notify/webhook.ts', // tries again
      'src/features/reclaim/command.ts',
      'src/features/request/answered.ts',
      'src/features/service/',
      'src/features/shutdown/shutdown',
      'src/features/status/command.ts', // reads twice, for growth
      'src/features/status/top/live.ts', // reads again
      'src/features/admission/conditions-file.ts',
      'src/features/admission/preempt.ts', // asks again until the victims have ended
      'src/features/oom/oom-accounting.ts',
      'src/features/oom-score-adj/oom-score-adjuster.ts',
      'src/features/restart-storm/',
      'src/features/victim-processes/open.ts', // yields to the loop
      'src/host/linux/managed-oom/managed-units.ts',
      'src/host/linux/process/program-runner.ts',
      'src/host/linux/systemd/bus-link.ts',
      'src/host/linux/systemd/inhibit-delay.ts',
      'src/host/linux/systemd/inhibitor.ts',
      'src/host/linux/systemd/login-manager.ts',
      'src/host/linux/systemd/shutdown-delay.ts',
      'src/host/linux/process/child-commands.ts',
      'src/host/linux/systemd/transient-units.ts',
      'src/host/linux/systemd/units/unit-cache.ts', // reads again
      'src/host/linux/systemd/unit-manager.ts',
      'src/host/windows/request-file.ts',
      'src/journal/',
      'src/log/log-destination.ts',
      'src/http/',
      'src/native/bounded-answer.ts',
      'src/node/timeouts.ts',
      'src/page/follow.ts', // in the browser
      'src/recording/',
      'src/state/',
      'src/storage/append-queue.ts', // retries a write
      'src/workloads/disk/disk-measurement.ts', // yields to the loop
    ],
    reason: 'the monitor has the only timers that lead to a decision',
  },
];

const impure = ['Date', 'process', 'performance', 'console', 'setTimeout', 'setInterval', 'setImmediate', 'Buffer', 'fetch', 'require'];

/** 'src/core/rank/rank.ts' → 'core/rank/rank', 'src/native/watch.d.ts' → 'native/watch'. */
export const moduleOf = (path: string): string => path.replace(/^src\//, '').replace(/(\.d)?\.ts$/, '');

/** Every import or global in `files` that the rules forbid, as 'path:line: sentence'. */
export function violations(files: readonly SourceText[]): string[] {
  return files.flatMap(({ path, text }) => {
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    const module = moduleOf(path);
    const layer = layerOf(module)?.path;
    const isPure = layer === 'core' || isPureModule(module);
    const found: string[] = [];
    const report = (node: ts.Node, sentence: string) =>
      found.push(`${path}:${String(source.getLineAndCharacterOfPosition(node.getStart()).line + 1)}: ${sentence}`);

    if (layer === undefined) found.push(`${path}:1: ${module.split('/')[0] ?? ''} is no layer of the architecture`);
    walk(source, (node) => {
      const specifier = importedBy(node);
      if (specifier?.startsWith('.') && !importAllowed(path, specifier)) report(node, `${layer ?? module} may not import ${specifier}`);
      if (specifier && !specifier.startsWith('.') && isPure)
        report(node, `${isPureModule(module) ? 'a pure module' : 'core'} imports core only, not ${specifier}`);

      const used = specifier ?? globalUse(node);
      if (used === undefined) return;
      if ((layer === 'core' || (isPure && !module.startsWith('features/doctor/'))) && impure.includes(used.split('.')[0] ?? ''))
        report(node, `${layer === 'core' ? 'core' : module} is pure: no ${used}`);
      for (const { uses, to, reason } of confined) {
        if (uses.includes(used) && !to.some((allowed) => path.startsWith(allowed))) report(node, `${used} is not allowed here: ${reason}`);
      }
    });
    return found;
  });
}

/** Modules by the modules that each imports, types included. A path without a file (package.json) is left out. */
export function importGraph(files: readonly SourceText[]): ReadonlyMap<string, readonly string[]> {
  const known = new Set(files.map(({ path }) => moduleOf(path)));
  return new Map(
    files.map(({ path, text }) => {
      const found = new Set<string>();
      walk(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true), (node) => {
        const specifier = importedBy(node);
        if (specifier?.startsWith('.')) found.add(moduleOf(targetOf(path, specifier)));
      });
      return [moduleOf(path), [...found].filter((target) => known.has(target))];
    }),
  );
}

/** Groups of modules that import each other, directly or by way of others, each sorted. */
export function cycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const reached = new Map([...graph.keys()].map((module) => [module, reachable(graph, graph.get(module) ?? [])]));
  const groups = new Map<string, string[]>();
  for (const [module, others] of reached) {
    if (!others.has(module)) continue;
    const group = [...others].filter((other) => reached.get(other)?.has(module)).sort();
    groups.set(group.join(), group);
  }
  return [...groups.values()].sort((a, b) => ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1));
}

/** All modules that `roots` lead to, with them. */
export function reachable(graph: ReadonlyMap<string, readonly string[]>, roots: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...roots];
  for (let module = open.pop(); module !== undefined; module = open.pop()) {
    if (found.has(module)) continue;
    found.add(module);
    open.push(...(graph.get(module) ?? []));
  }
  return found;
}

/**
 * Functions and methods with more than `most` lines, as 'path name' with their number of lines. Arrow functions count,
 * too.
 */
export function longFunctions(files: readonly SourceText[], most: number): Readonly<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const { path, text } of files) {
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    walk(source, (node) => {
      if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return;
      const line = (position: number) => source.getLineAndCharacterOfPosition(position).line;
      const lines = line(node.end) - line(node.getStart()) + 1;
      if (lines > most) found[`${path} ${functionName(node)}`] = lines;
    });
  }
  return found;
}

function functionName(node: ts.Node): string {
  const holder = ts.isArrowFunction(node) || ts.isFunctionExpression(node) ? node.parent : node;
  const named = holder as { readonly name?: ts.Node };
  return ts.isConstructorDeclaration(node) ? 'constructor' : (named.name?.getText() ?? 'anonymous');
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

/** The pattern of a folder ends in a slash; every other is a module. */
const isPureModule = (module: string): boolean => PURE.some((pure) => (pure.endsWith('/') ? module.startsWith(pure) : module === pure));

const targetOf = (from: string, specifier: string): string => posix.join(posix.dirname(from), specifier).replace(/\.js$/, '.ts');

function importAllowed(from: string, specifier: string): boolean {
  const target = targetOf(from, specifier);
  if (!target.startsWith('src/')) return target === 'package.json'; // the version
  const [module, imported] = [moduleOf(from), moduleOf(target)];
  if (
    isPureModule(module) &&
    !(isPureModule(imported) || imported.startsWith('core/') || imported.startsWith('config/lint/') || imported === 'host/facts')
  )
    return false;
  return mayImport(module, imported);
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
 * for a property, a key, a declaration.
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
  if (ts.isBindingElement(parent) && parent.propertyName === node) return undefined;
  if ('name' in parent && parent.name === node && !ts.isShorthandPropertyAssignment(parent)) return undefined;
  return node.text;
}
