import * as vscode from 'vscode';
import { Activity } from './activity/view';
import { Server } from './client';
import { answerDiagnostics } from './diagnostics';
import { announce } from './mcp/announce';
import { mcpServers, registerMcpServers } from './mcp/servers';
import { plugins, registerPlugins } from './plugins/plugins';
import { Diagrams } from './diagrams/panel';
import { Manage } from './manage/manage';
import type { AgentEvent } from './agent/event';
import { AgentView } from './agent/view';
import type { CallEvent, IndexStatus, ReviewList } from './protocol';
import { Questions } from './questions/questions';
import { Review } from './review/commands';
import { nothing } from './review/model';
import { Output } from './review/output';
import { registerSides } from './review/sides';
import { Pending } from './review/store';
import { PendingTree } from './review/tree';
import { sendSelection } from './selection';
import { Status } from './status';
import { registerModelTools } from './tools/lm';
import { Runner } from './tools/run';
import { tools } from './tools/list';
import { did } from './walk';
import { Ports } from './agents/ports';
import { registerSessions, sessions } from './agents/sessions';
import { registerShadows, shadows } from './agents/shadows';
import { AgentTree } from './agents/tree';

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('SideCar', { log: true });
  server = new Server(context, log);
  const s = server, started = () => s.start();
  const pending = new Pending(context.workspaceState), questions = new Questions(s), runner = new Runner(s);
  const tree = new PendingTree(pending), activity = new Activity(), status = new Status(s, pending, questions);
  const lists = { tools: tools(s), sessions: sessions(s, session => agent.titleOf(session)), shadows: shadows(s), mcp: mcpServers(s), plugins: plugins(s) };
  const manage = new Manage(context, s, { activity, ...lists });
  const output = new Output(s, pending, context.workspaceState), review = new Review(s, pending, tree, output), agent = new AgentView(context, s, pending, review, (name, text) => runner.show(name, text));
  const command = vscode.commands.registerCommand;

  review.onDidSee(() => void did('see'));
  review.onDidDecide(({ accepted }) => { if (accepted > 0) { void did('accept'); } });
  [review, questions].forEach(shows => shows.onDidShowDiff(() => agent.measure()));
  [questions, agent].forEach(q => q.onDidAllow(() => void did('allow')));
  activity.author = agent.author;
  status.ofRun = () => agent.shownMode;
  agent.onDidTurn(() => status.show());
  s.notifications.set('sidecar/pendingEdits', (list: ReviewList) => { pending.set(list); output.refresh(); });
  s.notifications.set('sidecar/event', (e: CallEvent | AgentEvent & { type: 'agent' }) => e.type === 'agent' ? agent.take(e) : activity.take(e));
  s.notifications.set('sidecar/knowledge', (index: IndexStatus) => status.showIndex(index));
  s.onDidChange(health => health === 'failed' && pending.set(nothing));
  answerDiagnostics(s);
  activity.onDidStart(e => void status.watchIndex(e));
  activity.onDidChangeTools(() => manage.changed('tools', 'mcp'));
  activity.onDidChangeCalls(() => manage.changed('activity'));
  activity.onDidComplete(e => {
    output.refresh();
    manage.changed('sessions', 'shadows', 'metrics');
    void status.watchIndex(e);
  });
  for (const tab of ['tools', 'sessions', 'shadows', 'mcp', 'plugins'] as const) { lists[tab].onDidChange(() => manage.changed(tab)); }

  context.subscriptions.push(
    log, pending, output, tree, activity, status, ...Object.values(lists), manage, manage.register(), new AgentTree(questions, agent), new Ports(s, agent.agentOf),
    review.register(), agent, agent.register(), questions.register(), runner.register(), activity.register(), registerSides(s, pending, uri => review.leadOn(uri)),
    registerSessions(s, lists.sessions), registerShadows(s, lists.shadows, runner), registerMcpServers(s, lists.mcp), registerPlugins(s, lists.plugins),
    new Diagrams(context, s, activity).register(), announce(s), sendSelection(s),
    command('sidecar.restart', () => s.restart()),
    command('sidecar.showLog', () => log.show()),
    command('sidecar.pickMode', () => status.pick()),
    command('sidecar.refreshTools', () => lists.tools.refresh()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void s.restart()),
    vscode.workspace.onDidChangeConfiguration(e => {
      if (e.affectsConfiguration('sidecar.server.path')) {
        void s.restart();
      } else if (e.affectsConfiguration('sidecar')) {
        void status.refresh();
      }
    }),
    s, // last: what was registered before still answers while the server stops
  );
  registerModelTools(context, started, s);
  void started();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
