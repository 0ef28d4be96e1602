import * as vscode from 'vscode';
import { Activity } from './activity/view';
import { Server } from './client';
import { answerDiagnostics } from './diagnostics';
import { announce } from './mcp/announce';
import { mcpServers, registerMcpServers } from './mcp/servers';
import { plugins, registerPlugins } from './plugins/plugins';
import { Diagrams } from './diagrams/panel';
import { registerMetrics } from './metricsPanel';
import type { AgentEvent } from './agent/event';
import { AgentView } from './agent/view';
import type { CallEvent, IndexStatus, ReviewList } from './protocol';
import { QuestionTree } from './questions/view';
import { Questions } from './questions/questions';
import { Review } from './review/commands';
import { nothing } from './review/model';
import { Output } from './review/output';
import { registerSides } from './review/sides';
import { Pending } from './review/store';
import { PendingTree } from './review/tree';
import { tellSelection } from './selection';
import { Status } from './status';
import { registerModelTools } from './tools/lm';
import { Runner } from './tools/run';
import { ToolTree } from './tools/view';
import { did } from './walk';
import { registerSessions, sessions } from './agents/sessions';
import { registerShadows, shadows } from './agents/shadows';

let server: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('SideCar', { log: true });
  server = new Server(context, log);
  const s = server, started = () => s.start();
  const pending = new Pending(context.workspaceState), questions = new Questions(s), tools = new ToolTree(s), runner = new Runner(s, tools);
  const tree = new PendingTree(pending), activity = new Activity(), status = new Status(s, pending, questions);
  const sessionView = sessions(s, session => agent.titleOf(session)), shadowView = shadows(s), mcpView = mcpServers(s), pluginView = plugins(s);
  const output = new Output(s, pending), review = new Review(s, pending, tree, output), agent = new AgentView(context, s, pending, review, (name, text) => runner.show(name, text));
  const command = vscode.commands.registerCommand;

  review.onDidSee(() => void did('see'));
  review.onDidDecide(({ accepted }) => { if (accepted > 0) { void did('accept'); } });
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
  activity.onDidChangeTools(() => {
    tools.refresh();
    mcpView.refresh();
  });
  activity.onDidComplete(e => {
    output.refresh();
    sessionView.refresh();
    shadowView.refresh();
    void status.watchIndex(e);
  });

  context.subscriptions.push(
    log, pending, output, tree, tools, activity, status, sessionView, shadowView, mcpView, new QuestionTree(questions),
    review.register(), agent, agent.register(), questions.register(), runner.register(), activity.register(), registerSides(s, pending, uri => review.leadOn(uri)),
    registerSessions(s, sessionView), registerShadows(s, shadowView, runner), registerMcpServers(s, mcpView), registerPlugins(s, pluginView), registerMetrics(s, activity),
    new Diagrams(context, s, activity).register(), announce(s), tellSelection(s),
    command('sidecar.restart', () => s.restart()),
    command('sidecar.showLog', () => log.show()),
    command('sidecar.pickMode', () => status.pick()),
    command('sidecar.refreshTools', () => tools.refresh()),
    command('sidecar.findTool', () => tools.find()),
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
