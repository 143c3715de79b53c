// Bundles the command line (dist/program.cjs, which dist/evictd.js runs, and dist/check.cjs for `check`) and the library into
// one file each, all libraries included: the package has no runtime dependencies and starts fast. Rarely used modules are in
// bundles of their own (packaging/bundles.js), which are loaded on first use. Also writes dist/THIRD-PARTY-LICENSES.txt,
// because the licences of the bundled libraries, and of those compiled into the addon, require their text.
import { createHash } from 'node:crypto';
import { chmod, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { APART } from './packaging/bundles.js';

/** Headers compiled into the addon: no bundle mentions them. */
const compiledIn = ['node_modules/node-addon-api'];

// Bundled CommonJS packages call require() for Node's own modules; an ESM file has none.
const require = "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** @type {import('esbuild').Plugin} */
const apart = {
  name: 'apart',
  setup: (bundling) => {
    bundling.onResolve({ filter: /^\.+\/.*\.js$/ }, ({ path, resolveDir, kind }) => {
      const isLater = kind === 'dynamic-import' || kind === 'require-call'; // of a deferred namespace, see below
      const module = join(resolveDir, path).replace(/\.js$/, '.ts');
      const [file] = isLater ? (Object.entries(APART).find(([, entry]) => module.endsWith(`/${entry}`)) ?? []) : [];
      return file === undefined ? undefined : { path: `./${file}`, external: true };
    });
  },
};

/**
 * Makes `import * as name from './module.js'` below src deferred, like the proposed `import defer`: the module is evaluated
 * when one of its exports is first used. The same for modules of Node ('node:crypto'), some of which take milliseconds.
 * esbuild turns a required module into an initialiser.
 * @type {import('esbuild').Plugin}
 */
const deferNamespaces = {
  name: 'defer-namespaces',
  setup: (bundling) => {
    bundling.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const contents = text.replace(
        /^import \* as (\w+) from ('(?:\.|node:)[^']+');$/gm,
        'const $1 = new Proxy({} as any, { get: (kept, name) => (kept.module ??= require($2))[name] }) as typeof import($2);',
      );
      return contents === text ? undefined : { contents, loader: 'ts' };
    });
  },
};

/**
 * Leaves out zod's messages in other languages, a sixth of the program: zod exports them as a namespace, which esbuild keeps as a whole.
 * @type {import('esbuild').Plugin}
 */
const onlyEnglish = {
  name: 'only-english',
  setup: (bundling) => {
    bundling.onResolve({ filter: /\/locales\/index\.js$/ }, ({ path, importer }) =>
      importer.includes('/node_modules/zod/') ? { path: join(dirname(importer), dirname(path), 'en.js') } : undefined,
    );
  },
};

/**
 * Of prom-client what evictd uses: the rest loads Node's cluster, TLS and performance hooks at the start.
 * @type {import('esbuild').Plugin}
 */
const metricsOnly = {
  name: 'metrics-only',
  setup: (bundling) => {
    bundling.onLoad({ filter: /\/node_modules\/prom-client\/index\.js$/ }, () => ({
      contents: ['Registry', 'Counter', 'Gauge', 'Histogram']
        .map((name) => `exports.${name} = require('./lib/${name.toLowerCase()}');`)
        .join('\n'),
    }));
  },
};

/**
 * Of commander what evictd uses: it has no command that is a program of its own, and Node's child processes take 2 ms to load.
 * @type {import('esbuild').Plugin}
 */
const noPrograms = {
  name: 'no-programs',
  setup: (bundling) => {
    bundling.onLoad({ filter: /\/node_modules\/commander\/lib\/command\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace("require('node:child_process')", 'undefined'),
    }));
  },
};

/**
 * @param {string} entry
 * @param {string} outfile
 * @param {string} banner
 * @param {Omit<import('esbuild').BuildOptions, 'metafile'>} options
 */
const bundle = async (entry, outfile, banner, options = {}) => {
  const { metafile } = await build({
    entryPoints: [entry],
    ...(options.outdir === undefined && { outfile }),
    banner: { js: banner },
    bundle: true,
    plugins: [apart, deferNamespaces, onlyEnglish, metricsOnly, noPrograms],
    external: ['@grpc/proto-loader'], // only grpc-js' channelz service would load it
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    // Names are kept: a stack trace then says where it was without the source map, and short names save no start-up time.
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none', // THIRD-PARTY-LICENSES.txt has them in full
    logLevel: 'warning',
    ...options,
    metafile: true,
  }).catch(() => process.exit(1)); // esbuild has said why
  return Object.keys(metafile.inputs);
};

/** @type {(text: string) => { name: string, version: string, license?: string, author?: string | { name: string } }} */
const parseManifest = JSON.parse;

/** @param {string} directory a package's, below node_modules */
const notice = async (directory) => {
  const { name, version, license, author } = parseManifest(await readFile(`${directory}/package.json`, 'utf8'));
  const file = (await readdir(directory)).find((candidate) => /^(licen[cs]e|copying)/i.test(candidate));
  if (!file && !license) throw new Error(`${directory}: neither a licence file nor a "license" field; it may not be bundled`);
  const holder = typeof author === 'string' ? author : author?.name;
  const text = file
    ? await readFile(`${directory}/${file}`, 'utf8')
    : `${license ?? ''} licence. Copyright ${holder ?? `the authors of ${name}`}.`;
  return `${name} ${version} (${license ?? 'see below'})\n\n${text.trim()}\n`;
};

/**
 * Scripts, because V8 keeps no code of modules (src/launch/program-code.ts), and what it has kept of a script imports none.
 * @type {Omit<import('esbuild').BuildOptions, 'metafile'>}
 */
const script = {
  format: 'cjs',
  define: { 'import.meta.dirname': '__dirname', 'import.meta.url': '__filename' },
  alias: { 'node:module': './packaging/own-require.js' },
  supported: { 'dynamic-import': false },
  minifyWhitespace: true, // V8 keeps the text in memory: 2.7 MB of it, or 3.6
  lineLimit: 120,
};

/**
 * What dist/evictd.js runs: a function of Node's names for a module, as Node makes it of a file. Wrapping it at the start would
 * copy the text once more.
 * @type {Omit<import('esbuild').BuildOptions, 'metafile'>}
 */
const program = { ...script, footer: { js: '})' } };
const OPENING = '(function (require, __filename, __dirname) {';

/** @param {string} entry */
const minified = async (entry) => {
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, minify: true, write: false, format: 'iife', target: 'es2022' });
  return (outputFiles[0]?.text ?? '').trim().replaceAll('</script', '<\\/script'); // which would end it in the page
};

/** The status page in one file, with the policy by which a browser runs and asks for nothing else. */
const statusPage = async () => {
  const [html, style, code] = await Promise.all([
    readFile('src/page/index.html', 'utf8'),
    minified('src/page/style.css'),
    minified('src/page/main.ts'),
  ]);
  /** @type {(text: string) => string} */
  const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = [
    "default-src 'none'",
    `script-src ${hash(code)}`,
    `style-src ${hash(style)}`,
    "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "require-trusted-types-for 'script'; trusted-types 'none'",
  ];
  // Functions, because a replacement string may not contain `$&`.
  const page = html
    .replace('<style></style>', () => `<style>${style}</style>`)
    .replace('<script></script>', () => `<script>${code}</script>`);
  await writeFile('dist/status-page.json', JSON.stringify({ html: page, contentSecurityPolicy: policy.join('; ') }));
};

/** The modules of `check` and `loadConfig` are in files that these load: in the library they would triple its time to start. */
const inChunks = { outdir: 'dist', splitting: true, chunkNames: 'library-[hash]', outExtension: { '.js': '.mjs' } };

const stale = (await readdir('dist').catch(() => [])).filter((file) => file.startsWith('library-'));
await Promise.all(stale.map((file) => rm(`dist/${file}`)));

const inputs = await Promise.all([
  bundle('src/launch/launch.ts', 'dist/evictd.js', '#!/usr/bin/env node', script),
  bundle('src/launch/program.ts', 'dist/program.cjs', OPENING, program),
  bundle('src/launch/check.ts', 'dist/check.cjs', OPENING, program),
  bundle('src/index.ts', 'dist/index.mjs', require, inChunks),
  ...Object.entries(APART).map(([file, entry]) => bundle(entry, `dist/${file}`, '', script)),
  bundle('packaging/program-code.ts', 'dist/program-code.js', '', script),
]);
await writeFile('dist/package.json', '{ "type": "commonjs" }\n'); // Node needs 5 ms longer to load a module as its first file
await statusPage();
await chmod('dist/evictd.js', 0o755);

const bundled = inputs.flat().flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? []);
const notices = await Promise.all([...new Set([...bundled, ...compiledIn])].sort().map(notice));
await writeFile('dist/THIRD-PARTY-LICENSES.txt', notices.join(`\n${'-'.repeat(80)}\n\n`));
