// The Agent view: its pages in the side bar and in editors, its commands, and what they are told.
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Server } from '../client';
import type { Review } from '../review/commands';
import type { Pending } from '../review/store';
import type { Decision } from './changes';
import { fileChip, selectionChip } from './chips';
import { conversation } from './markdown';
import type { Agent, AgentEvent, Choice, RunInfo } from './event';
import { handleMessages, type Whole } from './handlers';
import type { Detail, View } from './messages';
import { addAgent, readable } from './open';
import { agentPage } from './page/html';
import { visible } from './page/safe';
import { Pane } from './pane';
import { crowds, type Size } from './room';
import { pickAgent, pickMode, pickOwn, pickRun, pickSkill } from './picks';
import { Runs, type Change } from './runs';
import { did } from '../walk';
import { Notifier } from './notifier';
import { glyph } from './words';
import { Work } from './work';

const t = vscode.l10n.t;
const viewId = 'sidecar.agentView', editorId = 'sidecar.agentEditor';
const installPage = 'https://github.com/sidecar-ls/sidecar-ls/blob/main/docs/agents.md';

/** Events after which files may have been written. */
const writing = new Set<AgentEvent['kind']>(['call.finished', 'run.end']);

export class AgentView implements vscode.WebviewViewProvider, vscode.WebviewPanelSerializer, vscode.Disposable {
  private readonly panes = new Map<Pane, { title?: (text: string) => void; badge?: (n: number) => void }>();
  private readonly work: Work;
  private readonly notifier: Notifier;
  private readonly parts: Whole;
  private used: Pane | undefined; // the page that was used last
  private side: Pane | undefined; // that of the side bar
  private lists: Promise<void> = Promise.resolve();
  /** The name of a session's agent, if one of its runs has the session. */
  readonly author: (session: string) => string | undefined;
  /** The title of a session's run. */
  readonly titleOf = (session: string): string | undefined => this.work.runs.list.find(r => r.session === session)?.title || undefined;
  /** The runs that have not ended, the newest first. */
  get openRuns(): RunInfo[] { return this.work.runs.list.filter(r => r.state !== 'ended'); }
  readonly agentTitle = (run: RunInfo): string => visible(this.work.runs.agent(run.agent)?.title ?? run.agent);
  /** The agent that works in a session. */
  readonly agentOf = (session: string): string | undefined => { const run = this.work.runs.list.find(r => r.session === session); return run && this.agentTitle(run); };
  get onDidAllow(): vscode.Event<void> { return this.work.onDidAllow; }
  private started = 0; // so many runs were there
  private readonly turned = new vscode.EventEmitter<void>();
  /** Another run is on the screen, or its mode is another. */
  readonly onDidTurn = this.turned.event;

  constructor(private readonly context: vscode.ExtensionContext, private readonly server: Server, pending: Pending, review: Review, showText: (name: string, text: string) => Promise<void>) {
    const ask = <R>(command: string, argument?: object) => server.execute<R>(command, argument);
    const failed = (e: unknown) => { if (server.health === 'running') { server.log.warn(`agents: ${String(e)}`); } };
    const runs = new Runs(ask, change => this.onChange(change), failed);
    const key = 'agent.decisions', decided = { get: () => context.workspaceState.get<Decision[]>(key, []), set: (all: Decision[]) => void context.workspaceState.update(key, all) };
    this.author = session => {
      const run = runs.list.find(r => r.session === session);
      return run && this.agentTitle(run);
    };
    review.author = this.author;
    this.work = new Work(ask, runs, review, pending, decided, () => this.showChanges());
    this.notifier = new Notifier(this.work, () => [...this.panes.keys()], run => void this.show(run));
    this.parts = {
      work: this.work, showText,
      choose: pane => this.choose(pane),
      pick: (pane, what) => this.pick(pane, what),
      setDetail: detail => this.setDetail(detail),
      addAgent: () => addAgent(),
      howToInstall: () => vscode.env.openExternal(vscode.Uri.parse(installPage)),
      showLog: () => server.log.show(true),
      restart: () => server.restart(),
      seen: () => this.notifier.refresh(),
      sized: (pane, size) => this.makeRoom(pane, size),
    };
    server.commands.set('sidecar.agent.show', (a: { run: string; at?: number }) => this.showMessage({ run: a.run, seq: a.at })); // of a lens
    server.onDidChange(health => {
      if (health === 'running') {
        void this.refresh();
      }
      this.showViews();
    });
    pending.onDidChange(() => this.showChanges());
  }

  /** Takes what the server tells of a run. */
  take(event: AgentEvent): void { this.work.runs.take(event); }

  register(): vscode.Disposable {
    const commands: Record<string, (...args: never[]) => unknown> = {
      'sidecar.newRun': () => this.newRun(),
      'sidecar.startAgent': () => this.startAgent(),
      'sidecar.pickRun': () => this.pick(undefined, 'run'),
      'sidecar.focusAgent': () => this.focus(),
      'sidecar.leaveAgent': () => vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup'),
      'sidecar.addToAgent': (uri?: vscode.Uri) => this.add(uri),
      'sidecar.useSkill': () => this.useSkill(),
      'sidecar.openAgentInEditor': () => this.openEditor(this.used?.run),
      'sidecar.showRun': (r?: RunInfo) => this.show(r?.run),
      'sidecar.stopRun': (r?: RunInfo) => r?.run ? this.work.control(r.run, 'cancel') : this.withRun(t('Stop'), r => r.state === 'running' || r.state === 'waiting', run => this.work.control(run, 'cancel')),
      'sidecar.stopAllRuns': () => this.work.stopAll(),
      'sidecar.closeRun': (r?: RunInfo) => r?.run ? this.work.control(r.run, 'close') : this.withRun(t('Close run'), r => r.state !== 'ended', run => this.work.control(run, 'close')),
      'sidecar.agentDetail': () => this.pickDetail(),
      'sidecar.agentDocument': () => this.withRun(t('Open as document'), () => true, async run => this.parts.showText(`${readable(this.work.runs.info(run)?.title ?? '')}.md`, conversation(this.work.runs.info(run), await this.work.runs.whole(run), t))),
      'sidecar.agentMode': () => this.pick(undefined, 'sidecarMode'),
      'sidecar.findInAgent': () => this.withPane(pane => pane.send({ type: 'find' })),
      'sidecar.showBusyRun': () => this.show((this.work.runs.list.find(r => r.state === 'waiting') ?? this.work.runs.list.find(r => r.state === 'running') ?? this.work.runs.list[0])?.run),
      'sidecar.showMessage': (m?: Placed) => this.showMessage(m),
    };
    // Of the title of the view in the side bar: they are about its run, wherever the person was before.
    commands['sidecar.newRunInView'] = () => this.newRunInView();
    const titled = { 'sidecar.pickRunInView': 'sidecar.pickRun', 'sidecar.stopRunInView': 'sidecar.stopRun', 'sidecar.closeRunInView': 'sidecar.closeRun' };
    for (const [id, same] of Object.entries(titled)) {
      commands[id] = () => {
        this.used = this.side ?? this.used;
        return commands[same]!();
      };
    }
    return vscode.Disposable.from(
      vscode.window.registerWebviewViewProvider(viewId, this),
      vscode.window.registerWebviewPanelSerializer(editorId, this),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.showViews()),
      vscode.workspace.onDidChangeConfiguration(e => {
        if (e.affectsConfiguration('sidecar.agent')) {
          this.showViews();
        }
      }),
      ...Object.entries(commands).map(([id, run]) => vscode.commands.registerCommand(id, async (...args: never[]) => {
        try {
          return await run(...args);
        } catch (e) {
          void vscode.window.showErrorMessage(e instanceof Error ? e.message : String(e));
          return undefined;
        }
      })));
  }

  // ---- pages

  resolveWebviewView(view: vscode.WebviewView): void {
    const pane = this.open(view.webview, () => view.visible, {
      title: text => { view.description = text; },
      badge: n => { view.badge = n > 0 ? { value: n, tooltip: n === 1 ? t('1 question waits for you') : t('{0} questions wait for you', n) } : undefined; },
    });
    this.side = pane;
    view.onDidChangeVisibility(() => {
      if (!view.visible) { pane.rest(); }
      this.turned.fire();
    });
    view.onDidDispose(() => this.close(pane));
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> { this.host(panel); } // its page says which run it had

  private openEditor(run: string | undefined): void {
    this.host(vscode.window.createWebviewPanel(editorId, t('Agent'), vscode.ViewColumn.Active, {})).select(run);
  }

  private host(panel: vscode.WebviewPanel): Pane {
    const icon = (of: string) => vscode.Uri.joinPath(this.context.extensionUri, `media/agent-${of}.svg`);
    panel.iconPath = { light: icon('light'), dark: icon('dark') };
    const pane = this.open(panel.webview, () => panel.visible, { title: text => { panel.title = text || t('Agent'); } });
    panel.onDidChangeViewState(() => {
      if (!panel.visible) {
        pane.rest();
      } else if (panel.active) {
        this.used = pane;
      }
    });
    panel.onDidDispose(() => this.close(pane));
    return pane;
  }

  private open(webview: vscode.Webview, visible: () => boolean, shown: { title?: (text: string) => void; badge?: (n: number) => void }): Pane {
    webview.options = { enableScripts: true, enableCommandUris: false, localResourceRoots: [], portMapping: [] };
    const pane = new Pane(webview, visible, { runs: this.work.runs, view: p => this.viewOf(p), changes: run => this.work.changes(run), hunks: run => this.work.hunks(run), turned: () => this.showTitles() });
    this.panes.set(pane, shown);
    handleMessages(pane, this.parts, () => { this.used = pane; });
    const read = (name: string) => fs.readFileSync(path.join(this.context.extensionPath, 'dist', name), 'utf8');
    webview.html = agentPage(read('agent.js'), read('agent.css'));
    this.used ??= pane;
    return pane;
  }

  private close(pane: Pane): void {
    pane.dispose();
    this.panes.delete(pane);
    if (this.side === pane) {
      this.side = undefined;
    }
    if (this.used === pane) {
      this.used = [...this.panes.keys()][0];
    }
  }

  // A page that is new shows the run that it had before, or the newest one that is open, once both it and the runs are there.
  private choose(pane: Pane): void {
    const { runs } = this.work;
    if (!pane.chosen && pane.ready && runs.listed) {
      pane.select(runs.info(pane.had)?.run ?? runs.list.find(r => r.state !== 'ended')?.run);
    }
  }

  // ---- what is shown

  private viewOf(pane: Pane): View {
    const { runs } = this.work, info = runs.info(pane.run), config = vscode.workspace.getConfiguration('sidecar.agent');
    const log = runs.log(pane.run), starting = log?.questions.size ? undefined : log?.starting; // what it asks meanwhile comes first, as how to sign in
    const [text = '', lines = ''] = (starting?.error ?? '').split(/; its last lines:\n/);
    return {
      health: this.server.health, trusted: vscode.workspace.isTrusted, runs: runs.list,
      agents: runs.agents.map(a => a.name === info?.agent ? { ...a, can: able(a.can, info) } : a),
      ...(info?.agentMode ? { agentMode: titleOf(runs.agent(info.agent)?.modes, info.agentMode) } : {}), ...(info?.model ? { model: titleOf(runs.agent(info.agent)?.models, info.model) } : {}),
      mode: info ? this.work.mode(info.session) : '', reviews: this.work.reviews(info?.session),
      ...(starting && info ? { starting: { agent: info.agent, since: starting.since, step: 'starting', ...(starting.error === undefined ? {} : { error: { text, lines: lines ? lines.trimEnd().split('\n') : [] } }) } } : {}),
      settings: { enterSends: config.get('enterSends', true), announce: config.get('announce', 'paragraphs'), detail: this.context.globalState.get<Detail>('agent.detail', 'steps') },
      folders: (vscode.workspace.workspaceFolders ?? []).map(f => f.uri.fsPath),
      ...(vscode.l10n.bundle ? { words: vscode.l10n.bundle } : {}),
    };
  }

  private showViews(): void {
    [...this.panes.keys()].forEach(p => p.showView());
    this.showTitles();
    this.notifier.refresh();
    if (this.work.runs.list.length > this.started) {
      void did('start');
    }
    this.started = this.work.runs.list.length;
    void vscode.commands.executeCommand('setContext', 'sidecar.runs', this.work.runs.list.length);
    void vscode.commands.executeCommand('setContext', 'sidecar.runsBusy', this.work.runs.list.filter(r => r.state === 'running' || r.state === 'waiting').length);
  }

  /** The mode of the run that is on the screen, if one is. */
  get shownMode(): { mode: string; title: string } | undefined {
    const pane = this.used?.visible() ? this.used : [...this.panes.keys()].find(p => p.visible()), info = this.work.runs.info(pane?.run);
    return info && { mode: this.work.mode(info.session), title: info.title };
  }

  private showTitles(): void {
    this.turned.fire();
    for (const [pane, shown] of this.panes) {
      const info = this.work.runs.info(pane.run);
      shown.title?.(info ? `${glyph(info)} ${info.title}` : '');
      shown.badge?.(this.notifier.waiting);
    }
  }

  /** Asks the page in the bar how wide it is, as a diff is on the screen. */
  measure(): void { this.side?.put('measure', () => ({ type: 'measure' })); }

  // In a narrow window the bar is put away when a diff opens; the view Agents and Ctrl+Alt+Home bring it back.
  private async makeRoom(pane: Pane, size: Size): Promise<void> {
    if (pane === this.side && pane.visible() && crowds(size)) {
      await vscode.commands.executeCommand('workbench.action.closeAuxiliaryBar');
      if (size.focused) {
        await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup'); // or nothing has the focus
      }
    }
  }

  private showChanges(): void { [...this.panes.keys()].forEach(p => p.showChanges()); }

  private onChange(change: Change): void {
    if (change.what === 'lists') {
      [...this.panes.keys()].forEach(p => this.choose(p));
      this.showViews();
      return;
    }
    for (const pane of this.panes.keys()) {
      if (pane.run === change.run) {
        pane.showEvents();
        if (change.events.some(e => e.kind === 'note' || e.kind === 'question' || e.kind === 'answered')) {
          const { run, events } = change, commands = events.some(e => e.reason === 'available_commands_update');
          pane.showView();
          if (commands) {
            pane.put('commands', () => ({ type: 'commands', run, commands: this.work.runs.log(run)?.commands ?? [] }));
          }
        }
        if (change.events.some(e => e.call?.diff || e.kind === 'call.finished')) {
          pane.showChanges();
        }
      }
    }
    this.notifier.take(change.run, change.events, change.past);
    if (!change.past && change.events.some(e => e.kind === 'note' && (e.reason === 'ready' || e.reason === 'failed'))) {
      void this.refresh(); // what it offers is known now
    }
    if (change.events.some(e => writing.has(e.kind))) {
      void this.work.refreshWritten(change.run).catch(() => undefined); // the server's log has why
    }
  }

  /** Asks for the lists, one time after the other. */
  private refresh(): Promise<void> {
    return this.lists = this.lists.then(async () => {
      if (vscode.workspace.workspaceFolders?.length) {
        await this.work.refreshModes().catch(() => undefined); // without a folder there are none
        await this.work.runs.refresh(true);
      }
    });
  }

  // ---- commands

  private async startAgent(): Promise<void> {
    await this.focus();
    this.newRunInView();
  }

  // The page has the list of agents, with what is missing of each.
  private newRunInView(): void {
    const pane = this.side ?? this.used;
    pane?.select(undefined);
  }

  private async newRun(): Promise<void> {
    const agent = await pickAgent(this.work);
    if (agent) {
      await this.withPane(pane => this.work.start(pane, agent.name, false));
    }
  }

  private async pick(from: Pane | undefined, what: 'run' | 'sidecarMode' | 'agentMode' | 'model'): Promise<void> {
    const { runs } = this.work, pane = from ?? this.used, info = runs.info(pane?.run);
    switch (what) {
      case 'run': {
        await runs.refresh();
        const chosen = await pickRun(runs.list, t('Runs'), pane?.run);
        if (chosen) {
          await (from ? from.select(chosen.run) : this.show(chosen.run));
        }
        break;
      }
      case 'sidecarMode':
        if (info) {
          await pickMode(this.work, info.session);
          this.showViews();
        } else {
          await vscode.commands.executeCommand('sidecar.pickMode');
        }
        break;
      case 'agentMode': case 'model': {
        const own = await pickOwn(what, runs.agent(info?.agent), info?.[what]);
        if (own !== undefined && info) {
          await this.work.ask('sidecar.agent.set', { run: info.run, [what]: own });
          await runs.refresh();
        }
      }
    }
  }

  private async setDetail(detail: Detail): Promise<void> {
    await this.context.globalState.update('agent.detail', detail);
    this.showViews();
  }

  private async pickDetail(): Promise<void> {
    const chosen = await vscode.window.showQuickPick([
      { label: t('Replies'), detail: t('What you and the agent say'), id: 'replies' as const },
      { label: t('Steps'), detail: t('Each step in a line'), id: 'steps' as const },
      { label: t('Everything'), detail: t('All steps unfolded'), id: 'everything' as const },
    ], { title: t('Detail of the conversation') });
    if (chosen) {
      await this.setDetail(chosen.id);
    }
  }

  private async focus(): Promise<void> {
    await vscode.commands.executeCommand(`${viewId}.focus`);
    this.used = this.side ?? this.used;
    await this.withPane(pane => pane.send({ type: 'focus' }));
  }

  private async add(uri: vscode.Uri | undefined): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const chip = uri ? fileChip(uri) : editor?.document.uri.scheme === 'file' ? selectionChip(editor) : undefined;
    if (!chip) {
      throw new Error(t('No file is open in an editor.'));
    }
    await this.withPane(pane => pane.chips.add(...chip));
  }

  /** Begins the prompt with a skill: our own agent takes its name, others get it by our tool. */
  private async useSkill(): Promise<void> {
    const info = this.work.runs.info(this.used?.run), skill = await pickSkill(this.work, info?.session);
    if (skill) {
      const own = (info?.agent ?? 'builtin') === 'builtin';
      await this.withPane(pane => {
        pane.send({ type: 'draft', text: own ? `/${skill} ` : t('Use the skill {0} (the tool skill has it): ', skill), before: true });
        pane.send({ type: 'focus' });
      });
    }
  }

  /** The page that was used last; the side bar's, if there is none. */
  private async withPane(f: (pane: Pane) => unknown): Promise<void> {
    if (!this.used?.visible()) {
      await vscode.commands.executeCommand(`${viewId}.focus`, { preserveFocus: true });
      this.used = [...this.panes.keys()].find(p => p.visible()) ?? this.used;
    }
    if (this.used) {
      await f(this.used);
    }
  }

  private async withRun(title: string, fits: (r: RunInfo) => boolean, f: (run: string) => unknown): Promise<void> {
    const { runs } = this.work, shown = runs.info(this.used?.run), fitting = runs.list.filter(fits);
    const chosen = shown && fits(shown) ? shown : fitting.length === 1 ? fitting[0] : await pickRun(fitting, title, undefined);
    if (chosen) {
      await f(chosen.run);
    }
  }

  /** Shows a run on the page that was used last. */
  private async show(run: string | undefined, seq?: number): Promise<void> {
    if (run !== undefined) {
      const there = [...this.panes.keys()].find(p => p.visible() && p.run === run);
      if (there) {
        this.used = there;
      }
      await this.withPane(pane => {
        pane.select(run);
        if (seq !== undefined) {
          pane.send({ type: 'show', run, seq });
        }
      });
    }
  }

  private async showMessage(m: Placed | undefined): Promise<void> {
    const to = m?.hunk?.message ?? m?.message ?? m;
    if (!to?.run || !this.work.runs.info(to.run)) {
      throw new Error(t('The conversation is not there any more.'));
    }
    await this.show(to.run, to.seq);
  }

  dispose(): void {
    this.turned.dispose();
    this.notifier.dispose();
    this.work.runs.dispose();
  }
}

// What an agent can do with a run: nothing is said to one that has ended, and before it was started nobody knows whether it can go on.
function able(can: Agent['can'], run: RunInfo): Agent['can'] {
  return run.state === 'ended' ? can.filter(c => c !== 'resume') : can.length === 0 ? ['resume'] : can;
}

/** A message, or an item of the tree that has one. */
interface Placed { run?: string; seq?: number; message?: Placed; hunk?: { message?: Placed } }

const titleOf = (choices: Choice[] | undefined, id: string): string => choices?.find(c => c.id === id)?.title ?? id;
