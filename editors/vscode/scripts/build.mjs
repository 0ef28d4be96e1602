// Puts the package together in build/: the bundled code, the server for one platform, and the manifest, into which go
// the server's own table of settings and its list of tools. So neither is written down twice.
//
//   node scripts/build.mjs [--server PATH] [--describe PATH] [--version VERSION] [--dev]
//
// --describe is a server of the same version that runs here, if the one to pack does not. Without --server none is packed:
// such a package says how to get one.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import * as esbuild from 'esbuild';
import { manifest } from './manifest.mjs';

const { values: { server: program, describe = program, version, dev } } = parseArgs({ options: {
  server: { type: 'string' }, describe: { type: 'string' }, version: { type: 'string' }, dev: { type: 'boolean' },
} });
if (!describe) { throw new Error('--server PATH, or --describe PATH: which program is the server'); }
const here = path.join(import.meta.dirname, '..'), repo = path.join(here, '../..'), out = path.join(here, 'build');
fs.rmSync(out, { recursive: true, force: true });

await esbuild.build({
  entryPoints: [path.join(here, 'src/extension.ts'), path.join(here, 'src/library.ts')], outdir: path.join(out, 'dist'), external: ['vscode', './library'],
  bundle: true, platform: 'node', format: 'cjs', target: 'node20', supported: { 'dynamic-import': false }, minify: !dev, sourcemap: dev ? 'inline' : false, logLevel: 'warning',
});
// The pages of the Agent view and of what is managed, with the licences of what is in them.
const { metafile } = await esbuild.build({
  entryPoints: { agent: path.join(here, 'src/agent/page/main.tsx'), manage: path.join(here, 'src/manage/page/main.tsx') }, outdir: path.join(out, 'dist'), absWorkingDir: here, metafile: true,
  bundle: true, format: 'iife', target: 'es2022', jsx: 'automatic', jsxImportSource: 'preact', minify: !dev, legalComments: 'none', logLevel: 'warning',
});
const used = [...new Set(Object.keys(metafile.inputs).flatMap(f => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(f)?.[1] ?? []))].sort();
fs.writeFileSync(path.join(out, 'dist/agent.LICENSES'), used.map(name => {
  const dir = path.join(here, 'node_modules', name), file = fs.readdirSync(dir).find(f => /^licen[cs]e/i.test(f));
  if (!file) { throw new Error(`${name} has no licence`); }
  return `${name}\n\n${fs.readFileSync(path.join(dir, file), 'utf8').trim()}\n`;
}).join('\n\n'));
// Complete in itself; it is loaded when a diagram is drawn.
fs.copyFileSync(path.join(here, 'node_modules/mermaid/dist/mermaid.min.js'), path.join(out, 'dist/mermaid.js'));
fs.copyFileSync(path.join(here, 'node_modules/mermaid/LICENSE'), path.join(out, 'dist/mermaid.LICENSE'));
if (program) {
  const to = path.join(out, 'server', path.basename(program));
  fs.mkdirSync(path.dirname(to));
  fs.copyFileSync(program, to);
  fs.chmodSync(to, 0o755);
}
for (const each of ['media', 'package.nls.json', 'README.md', 'CHANGELOG.md']) {
  fs.cpSync(path.join(here, each), path.join(out, each), { recursive: true, filter: f => !f.endsWith('icon.svg') });
}
fs.copyFileSync(path.join(repo, 'LICENSE'), path.join(out, 'LICENSE'));

// The texts of the code, from which translations start.
const texts = fs.readdirSync(path.join(here, 'src'), { recursive: true }).filter(f => /\.tsx?$/.test(f))
  .flatMap(f => [...fs.readFileSync(path.join(here, 'src', f), 'utf8').matchAll(/\bt\('((?:[^'\\]|\\.)*)'/g)].map(m => m[1].replaceAll("\\'", "'")));
fs.mkdirSync(path.join(out, 'l10n'));
fs.writeFileSync(path.join(out, 'l10n/bundle.l10n.json'), JSON.stringify(Object.fromEntries([...new Set(texts)].sort().map(t => [t, t])), null, 2));

const json = file => JSON.parse(fs.readFileSync(file, 'utf8'));
const tools = JSON.parse(execFileSync(path.resolve(describe), ['tools', '--format', 'info'], { encoding: 'utf8', cwd: out }));
const all = manifest(json(path.join(here, 'package.json')), json(path.join(repo, 'internal/config/testdata/vscode.json')), tools.tools);
fs.writeFileSync(path.join(out, 'package.json'), JSON.stringify({ ...all, version: version ?? all.version }, null, 2));
