// Diagrams of Markdown files, drawn: those that an agent shows with display_diagram, and those of the file at hand.
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { ownCalls } from '../activity/calls';
import type { Activity } from '../activity/view';
import type { Server } from '../client';
import { page } from '../page';
import type { ToolResult } from '../protocol';
import { diagramsHtml, drawScript, type Diagram } from './html';

const t = vscode.l10n.t;

export class Diagrams {
  private panel: vscode.WebviewPanel | undefined;
  private asked = 0;

  constructor(private readonly context: vscode.ExtensionContext, private readonly server: Server, private readonly activity: Activity) {}

  register(): vscode.Disposable {
    return vscode.Disposable.from(
      vscode.commands.registerCommand('sidecar.showDiagrams', (uri?: vscode.Uri) => this.ofFile(uri ?? vscode.window.activeTextEditor?.document.uri)),
      this.activity.onDidComplete(call => {
        const args = call.arguments as { path?: string; index?: number } | undefined;
        if (call.tool === ownCalls.tool && call.state === 'ok' && args?.path) {
          void this.get(args.path, args.index ?? 0, call.session).then(d => this.show([d], true), () => undefined); // the agent has its answer already
        }
      }));
  }

  private async ofFile(uri: vscode.Uri | undefined): Promise<void> {
    if (uri?.scheme !== 'file') {
      void vscode.window.showInformationMessage(t('Open a Markdown file with diagrams first.'));
      return;
    }
    try {
      const first = await this.get(vscode.workspace.asRelativePath(uri, false), 0);
      const others = Array.from({ length: first.count - 1 }, (_, i) => this.get(first.path, i + 1));
      this.show([first, ...await Promise.all(others)], false);
    } catch (e) {
      void vscode.window.showErrorMessage(e instanceof Error ? e.message : String(e));
    }
  }

  private async get(file: string, index: number, session?: string): Promise<Diagram> {
    const result = await this.server.execute<ToolResult>('sidecar.tools.call', { name: ownCalls.tool, arguments: { path: file, index }, callId: `${ownCalls.prefix}${++this.asked}`, ...(session ? { session } : {}) });
    if (!result.ok) {
      throw new Error(result.content);
    }
    return result.structured as Diagram;
  }

  private show(list: Diagram[], keepFocus: boolean): void {
    if (!this.panel) {
      this.panel = vscode.window.createWebviewPanel('sidecar.diagrams', '', { viewColumn: vscode.ViewColumn.Beside, preserveFocus: keepFocus }, { enableScripts: true, localResourceRoots: [] });
      this.panel.onDidDispose(() => { this.panel = undefined; });
    } else {
      this.panel.reveal(undefined, keepFocus);
    }
    this.panel.title = t('Diagrams: {0}', path.basename(list[0]?.path ?? ''));
    const mermaid = fs.readFileSync(path.join(this.context.extensionPath, 'dist/mermaid.js'), 'utf8');
    this.panel.webview.html = page(diagramsHtml(list, { source: t('Source'), notDrawn: t('{0} is not drawn here.') }), `${mermaid}\n${drawScript}`, { drawn: true });
  }
}
