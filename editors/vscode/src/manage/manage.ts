// The page "Manage": all that is not done each day, as tabs of one editor. Its rows come from the lists of their subjects.
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { agentPage } from '../agent/page/html';
import { canShadow } from '../agents/shadows';
import type { Server } from '../client';
import { metricRows } from '../metrics';
import type { Metric } from '../protocol';
import { checkFromPage, tabs, type FromPage, type Row, type Tab, type TabId, type ToPage } from './rows';

const t = vscode.l10n.t;
const editorId = 'sidecar.manage';

/** Delay before a changed tab is drawn again, in milliseconds: changes come in bursts. */
const pause = 150;

/** The rows of a tab, and the items that they stand for. */
export interface Source {
  rows(): Row[] | Promise<Row[]>;
  item(id: string): unknown;
}

/** Each tab but the metrics, whose rows are no items. */
export type Sources = Record<Exclude<TabId, 'metrics'>, Source>;

export class Manage implements vscode.WebviewPanelSerializer, vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private ready = false;
  private tab: TabId = 'activity';
  private focus: 'tab' | 'filter' | undefined; // to be given to a page that is not there yet
  private offered: Row[] = []; // by the page as it is
  private asked = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly context: vscode.ExtensionContext, private readonly server: Server, private readonly sources: Sources) {
    server.onDidChange(() => this.showState());
  }

  register(): vscode.Disposable {
    const command = vscode.commands.registerCommand;
    return vscode.Disposable.from(
      vscode.window.registerWebviewPanelSerializer(editorId, this),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.showState()),
      command('sidecar.manage', (tab?: unknown) => this.show(tabs.find(each => each === tab))),
      // Keys that a person has given to views of before lead to where they are now.
      ...tabs.filter(tab => tab !== 'metrics').map(tab => command(`sidecar.${tab}.focus`, () => this.show(tab))),
      command('sidecar.questions.focus', () => vscode.commands.executeCommand('sidecar.agents.focus')),
      command('sidecar.showMetrics', () => this.show('metrics')),
      command('sidecar.findTool', () => this.show('tools', true)));
  }

  /** Says that a tab's rows are others, or those of several. */
  changed(...tabs: TabId[]): void {
    if (tabs.includes(this.tab)) {
      this.timer ??= setTimeout(() => { this.timer = undefined; void this.showRows(); }, pause);
    }
  }

  private show(tab: TabId | undefined, find = false): void {
    this.tab = tab ?? this.tab;
    this.focus = find ? 'filter' : 'tab';
    if (!this.panel) {
      this.host(vscode.window.createWebviewPanel(editorId, t('Manage SideCar'), vscode.ViewColumn.Active));
      return; // the page says when it stands
    }
    this.panel.reveal();
    this.turn();
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, saved: unknown): Promise<void> {
    const was = checkFromPage({ type: 'tab', ...(saved as object | null) });
    this.tab = was?.type === 'tab' ? was.tab : this.tab;
    this.host(panel);
  }

  private host(panel: vscode.WebviewPanel): void {
    const read = (name: string) => fs.readFileSync(path.join(this.context.extensionPath, 'dist', name), 'utf8');
    this.panel?.dispose();
    this.panel = panel;
    panel.iconPath = new vscode.ThemeIcon('gear');
    panel.webview.options = { enableScripts: true, enableCommandUris: false, localResourceRoots: [], portMapping: [] };
    panel.webview.onDidReceiveMessage(m => {
      const message = checkFromPage(m);
      if (message) {
        this.receive(message).catch(e => vscode.window.showErrorMessage(e instanceof Error ? e.message : String(e)));
      }
    });
    panel.onDidChangeViewState(() => { this.ready &&= panel.visible; }); // VS Code ends a page that is not on the screen
    panel.onDidDispose(() => {
      if (this.panel === panel) {
        this.panel = undefined;
        this.ready = false;
      }
    });
    panel.webview.html = agentPage(read('manage.js'), read('manage.css'));
  }

  private async receive(m: FromPage): Promise<void> {
    switch (m.type) {
      case 'ready':
        this.ready = true;
        this.showState();
        this.turn();
        break;
      case 'tab':
        this.tab = m.tab;
        await this.showRows();
        break;
      case 'server':
        await vscode.commands.executeCommand(m.what === 'start' ? 'sidecar.restart' : 'sidecar.showLog');
        break;
      case 'act': { // the page runs nothing but what it was given
        const row = this.offered.find(r => r.id === m.row), tab = this.tabs().find(each => each.id === m.tab);
        const offers = m.row === undefined ? tab?.actions.some(a => a.command === m.command) : row && (row.open === m.command || row.actions.some(a => a.command === m.command));
        if (offers && m.tab === this.tab) {
          await (m.row === undefined || m.tab === 'metrics' ? vscode.commands.executeCommand(m.command) : vscode.commands.executeCommand(m.command, this.sources[m.tab].item(m.row)));
        }
      }
    }
  }

  private post(message: ToPage): void {
    if (this.ready) {
      void this.panel?.webview.postMessage(message);
    }
  }

  private turn(): void {
    if (this.ready) {
      this.post({ type: 'show', tab: this.tab, ...(this.focus ? { focus: this.focus } : {}) });
      this.focus = undefined;
    }
    void this.showRows();
  }

  private showState(): void {
    this.post({ type: 'state', health: this.server.health, tabs: this.tabs(), ...(vscode.l10n.bundle ? { words: vscode.l10n.bundle } : {}) });
    void this.showRows();
  }

  // Shows the latest request only: a late answer to an older one is dropped.
  private async showRows(): Promise<void> {
    const { tab } = this, asked = ++this.asked;
    if (!this.ready || this.server.health !== 'running' && tab !== 'activity') {
      return;
    }
    const rows = await this.rowsOf(tab).catch(e => ({ type: 'rows' as const, tab, rows: [], error: e instanceof Error ? e.message : String(e) }));
    if (asked === this.asked) {
      this.offered = rows.rows;
      this.post(rows);
    }
  }

  private async rowsOf(tab: TabId): Promise<ToPage & { type: 'rows' }> {
    if (tab !== 'metrics') {
      return { type: 'rows', tab, rows: await this.sources[tab].rows() };
    }
    const { tools } = await this.server.execute<{ tools: Record<string, Metric> }>('sidecar.tools.metrics');
    return { type: 'rows', tab, rows: [], metrics: metricRows(tools, t) };
  }

  private tabs(): Tab[] {
    const refresh = (command: string) => ({ command, label: t('Refresh') });
    return [
      { id: 'activity', title: t('Activity'), about: t('Each call of a tool, by whom, and how it went. A click shows all of it.'), none: t('Tool calls of agents appear here as they happen.'), actions: [{ command: 'sidecar.clearActivity', label: t('Clear') }], filter: true },
      { id: 'tools', title: t('Tools'), about: t('The tools that agents have here. You can run each from a form; Explain only says what a call would need.'), none: t('There are none.'), actions: [refresh('sidecar.refreshTools')], filter: true },
      { id: 'sessions', title: t('Sessions'), about: t('Each agent that has connected, with its mode.'), none: t('There are none.'), actions: [] },
      { id: 'shadows', title: t('Shadow Workspaces'), about: t('A shadow workspace is a working tree of its own, in which an agent can work without touching your files.'), none: canShadow() ? t('There are none.') : t('There can be none here: it takes a git repository that you trust.'), actions: canShadow() ? [{ command: 'sidecar.createShadow', label: t('Create…') }] : [] },
      { id: 'mcp', title: t('MCP Servers'), about: t('MCP servers whose tools agents may use: those in your settings, and those of the project once you trust them.'), none: t('None is named in the settings or by the project.'), actions: [refresh('sidecar.refreshMcp'), { command: 'sidecar.mcpSettings', label: t('Open the Setting') }] },
      { id: 'plugins', title: t('Plugins'), about: t('Plugins bring tools, hooks, skills and MCP servers. None does anything before you trust it.'), none: t('There are none. Make one with `sidecar-ls plugin new`.'), actions: [refresh('sidecar.refreshPlugins')] },
      { id: 'metrics', title: t('Metrics'), about: t('How often each tool was called since the server started, how that went, and how long it took.'), none: t('No tool was called yet.'), actions: [] },
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.panel?.dispose();
  }
}
