// Tries the extension: installs it into VS Code if that is here, or else opens a workbench in the browser on a sample
// project in which an agent has proposed something.
//
//   node scripts/try.mjs VSIX SERVER
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';

const [vsix, server] = process.argv.slice(2).map(p => path.resolve(p));
if (spawnSync('code', ['--version']).status === 0) {
  execFileSync('code', ['--install-extension', vsix, '--force'], { stdio: 'inherit' });
  console.log('Installed. Open a folder in VS Code, and then the view SideCar.');
  process.exit();
}
execFileSync(path.join(import.meta.dirname, 'setup.sh'), ['workbench'], { stdio: ['ignore', 'ignore', 'inherit'] });
const { install, sandbox, serve } = await import('../test/e2e/workbench.mjs');

const box = sandbox({
  'count.go': 'package count\n\n// Most is how many words Top returns at most.\nconst Most = 10\n\n// Word is a word and how often it occurs.\ntype Word struct {\n\tText  string\n\tCount int\n}\n',
  'README.md': '# count\n\nCounts the words of a text.\n\n## Rules\n\nA word is what stands between white space.\n',
});
execFileSync('git', ['init', '-q'], { cwd: box.ws });
for (const [file, search, replace] of [
  ['count.go', 'const Most = 10', 'const Most = 100'], ['count.go', '\tCount int', '\tCount int // at least 1'],
  ['README.md', 'Counts the words of a text.', 'Counts the words of a text, in lower case.'],
]) {
  execFileSync(server, ['call', '--mode', 'review', 'edit_file', JSON.stringify({ path: file, search, replace })], { cwd: box.ws, stdio: 'ignore' });
}
install(box, vsix, false);
const running = await serve(box); // which ends with this process
console.log(`\nOpen ${running.url}\nThe view SideCar has three changes to decide on. Ctrl-C ends it all.`);
for (const opener of ['xdg-open', 'open']) {
  if (spawnSync('which', [opener]).status === 0) { spawn(opener, [running.url], { stdio: 'ignore', detached: true }).unref(); break; }
}
process.once('exit', () => fs.rmSync(box.root, { recursive: true, force: true }));
