import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** `process.stdout` and `process.stderr`. */
const OUTPUT = 'MemberExpression[object.name="process"][property.name=/^std(out|err)$/]';

/** Members and globals of SDKs that they don't publish; `npm run layers` does the same for their files. */
const PRIVATE = [
  'MemberExpression[computed=false][property.name=/^_(?!meta$)/]',
  'MemberExpression[property.value=/^_(?!operation$)/]',
  'TSIndexedAccessType[indexType.literal.value=/^_/]',
  'MethodDefinition[key.name=/^_/]',
  'Identifier[name=/^__TEMPORAL/]',
].map((selector) => ({
  selector,
  message:
    'A private part of an SDK: use it in platform/temporal/internal/, workflows/runtime/internal/ or mcp-server/sdk-internal/.',
}));

export default tseslint.config(
  {
    ignores: [
      'dist',
      'node_modules',
      'test/conformance/node_modules',
      'examples/**/node_modules',
      // Left by a demo, and suites with defects in the languages of several runners.
      'examples/*/{.longhaul,output}',
      'examples/run-test-suite/samples',
    ],
  },
  js.configs.recommended,
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: { allowDefaultProject: ['*.js', '.*.cjs', 'test/*.js'] } },
    },
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      'no-console': 'error',
      // Temporal's protobuf enums come as numbers.
      '@typescript-eslint/no-unsafe-enum-comparison': 'off',
    },
  },
  {
    files: ['**/*.js', '**/*.cjs', '**/*.mjs'],
    ...tseslint.configs.disableTypeChecked,
    languageOptions: {
      ...tseslint.configs.disableTypeChecked.languageOptions,
      globals: {
        process: 'readonly',
        console: 'readonly',
        module: 'writable',
        globalThis: 'readonly',
        URL: 'readonly',
      },
    },
  },
  {
    // Their dependencies aren't installed here: `npm run types` of each checks their types.
    files: ['examples/**/*.ts'],
    ...tseslint.configs.disableTypeChecked,
    languageOptions: { parserOptions: { projectService: false } },
  },
  {
    files: ['bench/**', 'test/**', 'examples/**', '**/*.js', '**/*.cjs', '**/*.mjs'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['**/*.ts'],
    ignores: [
      '{test,bench,examples}/**',
      '{platform/temporal/internal,workflows/runtime/internal,mcp-server/sdk-internal}/**',
    ],
    rules: { 'no-restricted-syntax': ['error', ...PRIVATE] },
  },
  {
    // What comes from outside is escaped in one place.
    files: ['cli/**/*.ts', 'mailbox/cli/**/*.ts'],
    ignores: ['cli/console.ts', 'cli/questions/prompts.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...PRIVATE,
        ...[
          `MemberExpression[property.name=/^(write|end|fd|pipe|cork)$/] > ${OUTPUT}`,
          `:not(MemberExpression) > ${OUTPUT}`,
          'VariableDeclarator[init.name="process"] Property[key.name=/^std(out|err)$/]',
        ].map((selector) => ({ selector, message: 'Write with the functions of cli/console.ts.' })),
        {
          selector: 'ImportExpression[source.value="@clack/prompts"]',
          message: 'Ask with the functions of cli/questions/prompts.ts.',
        },
      ],
    },
  },
  {
    // Tests look at whatever came over the wire.
    files: ['test/**/*.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'jest', property: 'retryTimes', message: 'A test that fails once has failed.' },
      ],
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-base-to-string': 'off',
    },
  },
);
