// Running a tool by hand: a form, the call with progress, and the result as a document.
import * as vscode from 'vscode';
import type { Server } from '../client';
import { page } from '../page';
import type { Page, ToolInfo, ToolResult } from '../protocol';
import { argumentsOf, fields, formHtml, resultText, type Filled } from './form';
import { access, allTools, type Leaf } from './list';

const t = vscode.l10n.t;
const scheme = 'sidecar-result';
const kept = 50; // results

export class Runner implements vscode.TextDocumentContentProvider {
  private readonly results = new Map<string, string>();
  private count = 0;

  constructor(private readonly server: Server) {}

  register(): vscode.Disposable {
    return vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(scheme, this),
      vscode.commands.registerCommand('sidecar.runTool', async (leaf?: Leaf) => {
        const tool = leaf?.tool ?? await this.pick();
        if (tool) {
          this.form(tool);
        }
      }),
      vscode.commands.registerCommand('sidecar.explainPolicy', async (leaf?: Leaf) => {
        const tool = leaf?.tool ?? await this.pick();
        if (tool) {
          this.form(tool, true);
        }
      }));
  }

  provideTextDocumentContent(uri: vscode.Uri): string { return this.results.get(uri.path) ?? t('This result is not kept any more.'); }

  /** Shows a text as a document that nobody can change. */
  async show(name: string, text: string, options: vscode.TextDocumentShowOptions = { preview: true }): Promise<void> {
    const path = `/${++this.count}/${name}`;
    this.results.set(path, text);
    for (const old of [...this.results.keys()].slice(0, -kept)) {
      this.results.delete(old);
    }
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(vscode.Uri.from({ scheme, path })), options);
  }

  private async pick(): Promise<ToolInfo | undefined> {
    const items = allTools(this.server).then(list => list.map(tool => ({ label: tool.title, description: tool.name, detail: `${access(tool)} · ${tool.description}`, tool })));
    return (await vscode.window.showQuickPick(items, { title: t('Run a tool'), placeHolder: t('Search by name or by what it does'), matchOnDescription: true, matchOnDetail: true }))?.tool;
  }

  private form(tool: ToolInfo, explain = false): void {
    const panel = vscode.window.createWebviewPanel('sidecar.tool', tool.title, vscode.ViewColumn.Active, { enableScripts: true, localResourceRoots: [], retainContextWhenHidden: true });
    const list = fields(tool);
    panel.webview.html = page(formHtml(tool, list, { run: explain ? t('Explain, and run nothing') : t('Run'), optional: t('More arguments') }), formScript);
    panel.webview.onDidReceiveMessage(async (filled: Filled) => {
      const { arguments: args, errors } = argumentsOf(list, filled, t);
      await panel.webview.postMessage({ errors, busy: !!args });
      if (args) {
        await (explain ? this.explain(tool, args) : this.run(tool, args)).catch(e => vscode.window.showErrorMessage(e instanceof Error ? e.message : String(e)));
        await panel.webview.postMessage({ errors: {}, busy: false });
      }
    });
  }

  private async explain(tool: ToolInfo, args: Record<string, unknown>): Promise<void> {
    const e = await this.server.execute<{ decision: string; rule: string; reason: string; effects: object }>('sidecar.policy.explain', { name: tool.name, arguments: args });
    await this.show(`${tool.name}.md`, `# ${tool.name}: ${e.decision}\n\n${e.reason} (${e.rule})\n\n\`\`\`json\n${JSON.stringify(e.effects, null, 2)}\n\`\`\`\n`);
  }

  private async run(tool: ToolInfo, args: Record<string, unknown>): Promise<void> {
    const result = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: tool.title, cancellable: true },
      (_, token) => this.server.execute<ToolResult>('sidecar.tools.call', { name: tool.name, arguments: args }, token));
    for (let cursor = result.truncated?.cursor, pages = 0; cursor && pages < 20; pages++) {
      const more: Page = await this.server.execute('sidecar.tools.read', { cursor });
      result.content += more.content;
      cursor = more.hasMore ? more.nextCursor : undefined;
      if (!cursor) {
        delete result.truncated;
      }
    }
    await this.show(`${tool.name}.md`, resultText(result, args, t), { preview: true, viewColumn: vscode.ViewColumn.Beside });
  }
}

// Runs in the page of a form.
const formScript = `
const vscode = acquireVsCodeApi();
const form = document.getElementById('form');
form.addEventListener('submit', event => {
  event.preventDefault();
  const filled = {};
  for (const el of form.elements) {
    if (!el.name) { continue; }
    if (el.type === 'checkbox') {
      if (el.checked || el.dataset.initial) { filled[el.name] = el.checked; }
    } else if (el.value !== '') { filled[el.name] = el.value; }
  }
  vscode.postMessage(filled);
});
addEventListener('message', ({ data }) => {
  for (const el of document.querySelectorAll('[data-error]')) { el.textContent = data.errors[el.dataset.error] || ''; }
  form.querySelector('button').disabled = data.busy;
});
(form.querySelector('input, textarea, select') || form.querySelector('button')).focus();
`;
