import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** The layers below compose, which must not know one another (docs/architecture.md, "Dependency rule"; test/architecture.test.ts has the whole rule). */
const adapters = ['host', 'workloads', 'actions', 'metrics'];

/**
 * @param {string[]} group
 * @param {string} message
 * @returns {import('eslint').Linter.RulesRecord}
 */
const forbidImports = (group, message) => ({ '@typescript-eslint/no-restricted-imports': ['error', { patterns: [{ group, message }] }] });

export default defineConfig(
  { ignores: ['build/', 'dist/', 'node_modules/', 'test/fixtures/', 'test/vectors/**/*.jsonl'] },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      'no-undef': 'off', // the compiler knows better, in JavaScript files too (checkJs)
      eqeqeq: 'error',
      'no-console': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/consistent-type-exports': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/prefer-function-type': 'off', // constructors of the addon are interfaces, each with a doc comment
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['src/**', 'test/**', 'packaging/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: 'TSEnumDeclaration', message: 'a union of literals instead of an enum' },
        { selector: 'ExportDefaultDeclaration', message: 'named exports only' },
      ],
    },
  },
  {
    files: ['src/core/**'],
    rules: {
      'no-restricted-globals': [
        'error',
        'Date',
        'process',
        'performance',
        'console',
        'setTimeout',
        'setInterval',
        'setImmediate',
        'Buffer',
        'fetch',
      ],
      ...forbidImports(['node:*', '../*'], 'core is pure: it imports core only, no Node module'),
    },
  },
  ...adapters.map((layer) => ({
    files: [`src/${layer}/**`],
    rules: forbidImports(
      [...adapters.filter((other) => other !== layer), 'cli'].map((other) => `**/${other}/**`).concat('**/compose/**', '**/evictd.js'),
      `${layer} knows the monitor's ports and core, not its neighbours nor what composes them`,
    ),
  })),
  {
    files: ['src/monitor/**', 'src/config/**'],
    rules: forbidImports(
      [...adapters, 'cli'].map((other) => `**/${other}/**`).concat('**/compose/**', '**/evictd.js'),
      'adapters implement the ports; the layers above them never import an adapter',
    ),
  },
);
