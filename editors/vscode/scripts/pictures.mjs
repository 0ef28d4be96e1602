// Takes the pictures of the README and the walkthrough in the real workbench, dark and light, and draws the icon.
//
//   node scripts/pictures.mjs VSIX DIR [agent]
//
// With agent it takes that picture alone: Claude Code at work, with a model that plays a script. It needs Go and the agents of the tests,
// which internal/test/clients/testdata/setup.sh installs.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { eventually, person } from '../test/e2e/person.mjs';
import { browse, install, sandbox, serve } from '../test/e2e/workbench.mjs';
import { playClaude } from './played.mjs';

const [vsix, out] = process.argv.slice(2, 4).map(p => path.resolve(p));
fs.mkdirSync(out, { recursive: true });
const box = sandbox({
  'count/count.go': `// Package count counts words.
package count

import (
	"sort"
	"strings"
)

// Most is how many words Top returns at most.
const Most = 10

// Word is a word and how often it occurs.
type Word struct {
	Text  string
	Count int
}

// Words counts each word of a text.
func Words(text string) map[string]int {
	counts := map[string]int{}
	for _, word := range strings.Fields(text) {
		counts[word]++
	}
	return counts
}

// Top returns the most frequent words of a text.
func Top(text string) []Word {
	var list []Word
	for word, n := range Words(text) {
		list = append(list, Word{word, n})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Count > list[j].Count })
	return list[:min(len(list), Most)]
}
`,
  'README.md': '# tally\n\nCounts the words of a text and prints the most frequent ones.\n\n    $ tally poem.txt\n      3 the\n\n## Rules\n\n- A word is what stands between white space.\n- `The` and `the` are two words.\n',
  'go.mod': 'module example.com/tally\n\ngo 1.21\n',
  'old.go': 'package main\n\nfunc unused() {}\n',
});
for (const args of [['init', '-q', '-b', 'main'], ['add', '.'], ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '-q', '-m', 'first']]) { execFileSync('git', args, { cwd: box.ws }); }
box.settings({ 'breadcrumbs.enabled': false, 'window.title': 'tally' });
install(box, vsix);
const count = path.join(box.ws, 'count/count.go'), counting = path.join(box.ws, 'count/count_test.go');
const claude = await playClaude([
  { tool: 'Read', args: { file_path: count } },
  { tool: 'Edit', args: { file_path: count, old_string: '// Words counts each word of a text.', new_string: '// Words counts each word of a text, in lower case.' } },
  { tool: 'Edit', args: { file_path: count, old_string: '\t\tcounts[word]++', new_string: '\t\tcounts[strings.ToLower(word)]++' } },
  { tool: 'Write', args: { file_path: counting, content: 'package count\n\nimport "testing"\n\nfunc TestWords(t *testing.T) {\n\tif n := Words("The the")["the"]; n != 2 {\n\t\tt.Errorf("got %d, want 2", n)\n\t}\n}\n' } },
  { tool: 'Bash', args: { command: 'go test ./count', description: 'Run the tests of count' } },
]);
fs.mkdirSync(`${box.home}/.config/sidecar`, { recursive: true });
fs.writeFileSync(`${box.home}/.config/sidecar/settings.json`, JSON.stringify({ agents: { claude: { adapter: claude.program } } }));
Object.assign(process.env, claude.env); // the server starts the agent in the environment of the workbench
const server = await serve(box);
const { browser, page } = await browse();
const me = person(page, { agentPort: server.agentPort });

try {
  await page.setViewportSize({ width: 1240, height: 720 });
  await page.goto(server.url, { waitUntil: 'commit' });
  await me.container.waitFor({ timeout: 90_000 });
  await me.click(me.container, 'the view', () => me.view('Pending Changes').isVisible());
  await me.shows('mode', /cautious/);
  await me.agent('sidecar.mode.set', { mode: 'review' });
  await agentAtWork();
  if (process.argv[4] !== 'agent') { await others(); }
} finally {
  await browser.close();
  await server.stop();
  claude.close();
  fs.rmSync(box.root, { recursive: true, force: true });
}

/** Takes a picture in both themes. */
async function take(name, clip) {
  for (const [suffix, theme] of [['-light', 'light'], ['', 'dark']]) {
    await me.theme(theme);
    await page.mouse.move(700, 8);
    await page.waitForTimeout(900); // for the picture alone
    await page.screenshot({ path: path.join(out, `${name}${suffix}.png`), clip });
  }
}

/** Claude Code in the Agent view: what it has changed so far, and a command that it asks about. */
async function agentAtWork() {
  await page.setViewportSize({ width: 1440, height: 760 });
  await me.command('SideCar: Focus Agent');
  const talk = page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame'), field = talk.locator('.composer textarea');
  const start = talk.getByRole('button', { name: /^Start Claude Code/ });
  await start.waitFor();
  const { x } = await page.locator('.part.auxiliarybar').boundingBox();
  await page.mouse.move(x - 1, 300);
  await page.mouse.down();
  await page.mouse.move(x - 100, 300, { steps: 4 });
  await page.mouse.up();
  await start.click();
  await talk.getByRole('button', { name: 'Start', exact: true }).click(); // what it would see was shown
  await field.fill('Count words in lower case, and test it.');
  await field.press('Enter');
  await talk.getByText('Needs you').first().waitFor();
  await me.unfold(me.row('count.go').first());
  await me.click(me.row('count.go').first(), 'the diff', async () => /ToLower/.test(await me.text(me.modified)));
  await page.locator('.monaco-diff-editor .codelens-decoration a:visible', { hasText: 'Accept' }).first().waitFor();
  await take('agent');
  for (const { run } of (await me.agent('sidecar.agent.runs', {})).runs) { await me.agent('sidecar.agent.close', { run }); }
  await me.agent('sidecar.review.reject', {});
  await me.command('View: Close All Editors');
  await me.command('View: Hide Secondary Side Bar');
  await page.setViewportSize({ width: 1240, height: 720 });
}

/** Those in which the script itself calls the tools, as an agent does. */
async function others() {
  for (const [tool, args] of [
    ['grep', { pattern: 'Most' }],
    ['edit_file', { path: 'count/count.go', search: 'const Most = 10', replace: 'const Most = 100' }],
    ['edit_file', { path: 'count/count.go', search: '// Words counts each word of a text.', replace: '// Words counts each word of a text, in lower case.' }],
    ['edit_file', { path: 'count/count.go', search: '\t\tcounts[word]++', replace: '\t\tcounts[strings.ToLower(word)]++' }],
    ['edit_file', { path: 'README.md', search: '- `The` and `the` are two words.\n', replace: '- `The` and `the` are one word.\n' }],
    ['write_file', { path: 'count/count_test.go', content: 'package count\n\nimport "testing"\n\nfunc TestWords(t *testing.T) {\n\tif n := Words("The the")["the"]; n != 2 {\n\t\tt.Errorf("got %d", n)\n\t}\n}\n' }],
    ['delete_file', { path: 'old.go' }],
  ]) { await me.call(tool, args); }
  await me.unfold(me.row('count.go').first());
  await me.click(me.row('count.go').first(), 'the diff', async () => /ToLower/.test(await me.text(me.modified)));
  await page.locator('.monaco-diff-editor .codelens-decoration a:visible', { hasText: 'Accept' }).first().waitFor();
  await take('review');
  await me.command('SideCar: Show All Diffs');
  await eventually('all', async () => /count/.test(await me.text(page.locator('.multiDiffEntry'))));
  await take('all-diffs');
  await me.command('View: Close All Editors');

  await me.agent('sidecar.session.open', { id: 'release', mode: 'audit' });
  await me.call('edit_file', { path: 'go.mod', search: 'go 1.21', replace: 'go 1.26' }, 'release');
  await me.call('git_commit', { message: 'go.mod: Go 1.26' }, 'release');
  await me.row('Batch of release').waitFor();
  await take('batch');

  await me.agent('sidecar.review.reject', {});
  await me.agent('sidecar.mode.set', { mode: 'cautious' });
  await me.command('Notifications: Clear All Notifications');
  void me.call('edit_file', { path: 'count/count.go', search: 'const Most = 10', replace: 'const Most = 100' }).catch(() => {});
  await me.view('Agents').locator('.monaco-list-row').first().click();
  await eventually('the question', async () => /const Most/.test(await me.text(page.locator('.editor-group-container .view-lines'))));
  await take('question');
  await me.command('SideCar: Deny');
  await me.command('Notifications: Clear All Notifications');
  await me.command('View: Close All Editors');
  void me.call('delete_file', { path: 'old.go' }).catch(() => {});
  await me.dialog.waitFor();
  await take('dialog');
  await page.keyboard.press('Enter');

  await me.pick('SideCar: Run Tool', 'Search in files', 'grep');
  const form = page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
  await form.locator('[name=pattern]').fill('func \\w+');
  await form.locator('summary').click();
  await take('tool');
  await form.locator('button[type=submit]').click();
  await eventually('the result', async () => /matches in/.test(await me.text(page.locator('.editor-group-container .view-lines'))));
  await me.command('View: Close All Editors');
  fs.writeFileSync(path.join(box.ws, 'design.md'), '# Design\n\n```mermaid\nflowchart LR\n  text --> Words --> Top --> list[ten words]\n  Top -. sorts .-> Words\n```\n\n```mermaid\nsequenceDiagram\n  agent->>queue: edit_file\n  queue->>person: a hunk\n  person-->>queue: accept\n```\n');
  await me.ask({ eval: `await vscode.window.showTextDocument(vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, 'design.md'))` });
  await me.command('SideCar: Show Diagrams of This File');
  await page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame').locator('.drawing svg').nth(1).waitFor();
  await take('diagrams');
  await me.command('View: Close All Editors');
  await (await me.manage('Metrics')).locator('th code').first().waitFor();
  await take('metrics');
  await me.agent('sidecar.shadow.create', { id: 'faster-sort' });
  await (await me.item('Shadow Workspaces', 'faster-sort')).waitFor();
  await take('manage');
  await me.command('View: Close All Editors');
  await me.pick('Welcome: Open Walkthrough...', 'Work with agents in SideCar');
  await page.locator('.gettingStartedContainer', { hasText: 'Work with agents in SideCar' }).waitFor();
  await take('walkthrough');

  await page.setViewportSize({ width: 128, height: 128 });
  await page.goto(`data:text/html,<style>*{margin:0}svg{display:block}</style>${encodeURIComponent(fs.readFileSync(path.join(import.meta.dirname, '../media/icon.svg'), 'utf8'))}`);
  await page.screenshot({ path: path.join(out, 'icon.png'), omitBackground: true });
}
