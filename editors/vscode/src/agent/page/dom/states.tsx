// What the page shows where there is no conversation: the agents to start, what stands in the way.
import { useState } from 'preact/hooks';
import type { Agent } from '../../event';
import type { Condition } from '../condition';
import { lines, terminal, visible } from '../safe';
import { span, t } from '../words';
import type { App } from './app';
import { Icon, Spinner } from './icons';

export function State({ app, c }: { app: App; c: Condition }) {
  const v = app.view;
  if (!v) { return null; }
  if (app.consent !== undefined) { return <Consent app={app} name={app.consent} />; }
  switch (c) {
    case 'untrusted': return (
      <div class="state"><Icon name="warning" look="needs big" /><h2>{t('Trust this folder first')}</h2><p>{t('Agents read files and run programs here. Until you trust the folder, none is started.')}</p>
        <div class="buttons"><button type="button" onClick={() => app.send({ type: 'do', what: 'trust' })}>{t('Manage Trust')}</button></div></div>
    );
    case 'first': return <Agents app={app} agents={v.agents} />;
    case 'signIn': return <SignIn app={app} />;
    case 'connecting': return <Connecting app={app} />;
    case 'failedStart': return <Failed app={app} />;
    default: return null;
  }
}

function Agents({ app, agents }: { app: App; agents: Agent[] }) {
  const found = agents.filter(a => a.available), missing = agents.filter(a => !a.available), [all, setAll] = useState(false);
  const start = (a: Agent) => {
    if (a.consented) { app.send({ type: 'start', agent: a.name }); } else { app.consent = a.name; app.redraw(); }
  };
  return (
    <div class="state agents">
      {found.length > 0 && <><h2>{t('Start an agent')}</h2>
        <ul>{found.map(a => (
          <li key={a.name}><Icon name="agent" /><span class="agent-name">{visible(a.title)}{a.version && <span class="dim"> {visible(a.version)}</span>}</span>
            <button type="button" aria-label={t('Start {0}', a.title)} onClick={() => start(a)}>{t('Start')}</button></li>
        ))}</ul></>}
      {missing.length > 0 && found.length > 0 && !all && <button type="button" class="quiet add" onClick={() => setAll(true)}>{t('Other Agents ({0})…', missing.length)}</button>}
      {missing.length > 0 && (found.length === 0 || all) && <><h2 class="dim">{found.length > 0 ? t('Not found here') : t('No agent was found')}</h2>
        <ul class="missing">{missing.map(a => (
          <li key={a.name}><Icon name="agent" look="dim" /><span class="agent-name">{visible(a.title)}{a.why && <span class="dim why">{visible(a.why)}</span>}</span>
            <button type="button" class="quiet" aria-label={t('How to install {0}', a.title)} onClick={() => app.send({ type: 'do', what: 'howToInstall', agent: a.name })}>{t('How to Install')}</button></li>
        ))}</ul></>}
      <button type="button" class="quiet add" onClick={() => app.send({ type: 'do', what: 'addAgent' })}><Icon name="plus" />{t('Add an Agent')}</button>
    </div>
  );
}

function Consent({ app, name }: { app: App; name: string }) {
  const agent = app.view!.agents.find(a => a.name === name);
  const done = (yes: boolean) => {
    app.send({ type: 'consent', agent: name, yes });
    if (yes) { app.send({ type: 'start', agent: name }); }
    app.consent = undefined;
    app.redraw();
  };
  if (!agent) { return null; }
  return (
    <div class="state" role="group" aria-label={t('Start {0}?', agent.title)}>
      <h2><Icon name="key" />{t('Start {0}?', visible(agent.title))}</h2>
      <p>{t('It works in this project, and its changes wait for your review.')}</p>
      {agent.sees.length > 0 && <><p>{t('It can also use:')}</p>
        <ul class="sees">{agent.sees.map(s => <li key={s}><Icon name="check" look="good" /><span>{visible(s)}</span></li>)}</ul></>}
      <p>{t('It can’t see the rest of your home directory or your other environment variables.')}</p>
      <div class="buttons"><button type="button" onClick={() => done(true)}>{t('Start')}</button><button type="button" class="second" onClick={() => done(false)}>{t('Cancel')}</button></div>
    </div>
  );
}

function Connecting({ app }: { app: App }) {
  const s = app.view!.starting!, took = app.now - s.since, title = app.view!.agents.find(a => a.name === s.agent)?.title ?? s.agent;
  const step = { finding: t('Finding the program'), starting: t('Starting the program'), signIn: t('Signing in') }[s.step ?? 'starting'];
  return (
    <div class="state"><h2><Spinner />{t('Starting {0}…', visible(title))}</h2>
      {took > 3000 && <p class="dim">{step} · {span(took)}</p>}
      <div class="buttons"><button type="button" class="second" onClick={() => app.send({ type: 'cancelStart' })}>{t('Cancel')}</button>
        {took > 10_000 && <button type="button" class="second" onClick={() => app.send({ type: 'do', what: 'showLog' })}>{t('Show Log')}</button>}</div>
    </div>
  );
}

function SignIn({ app }: { app: App }) {
  const agent = app.view!.agents.find(a => a.name === app.view!.starting?.agent);
  return (
    <div class="state"><h2><Icon name="key" />{t('Sign in to {0}', visible(agent?.title ?? ''))}</h2><p>{t('The agent keeps its own sign-in; SideCar stores nothing of it.')}</p>
      <div class="buttons column">{(agent?.signIn ?? []).map((m, i) => <button key={m.id} type="button" class={i > 0 ? 'second' : ''} onClick={() => app.send({ type: 'signIn', agent: agent!.name, method: m.id })}>{visible(m.title)}</button>)}
        <button type="button" class="second" onClick={() => app.send({ type: 'cancelStart' })}>{t('Cancel')}</button></div>
    </div>
  );
}

function Failed({ app }: { app: App }) {
  const s = app.view!.starting!, title = app.view!.agents.find(a => a.name === s.agent)?.title ?? s.agent, [copied, setCopied] = useState(false);
  return (
    <div class="state left"><h2><Icon name="cross" look="bad" />{t('{0} didn’t start', visible(title))}</h2><p>{visible(s.error!.text)}</p>
      {s.error!.lines.length > 0 && <pre class="output">{terminal(lines(s.error!.lines.slice(-20).join('\n')).join('\n')).map(p => p.text)}</pre>}
      <div class="buttons"><button type="button" onClick={() => app.send({ type: 'start', agent: s.agent })}>{t('Retry')}</button>
        <button type="button" class="second" onClick={() => app.send({ type: 'do', what: 'showLog' })}>{t('Show Log')}</button>
        <button type="button" class="second" onClick={() => { app.send({ type: 'copy', text: [s.error!.text, ...s.error!.lines].join('\n') }); setCopied(true); }}>{copied ? t('Copied') : t('Copy Details')}</button>
        <button type="button" class="second" onClick={() => app.send({ type: 'cancelStart' })}>{t('Cancel')}</button></div>
    </div>
  );
}

/** One line over the composer that says what stands in the way, or what the agent waits for. */
export function Banner({ app, c }: { app: App; c: Condition }) {
  const m = app.model, run = app.run;
  switch (c) {
    case 'down': return (
      <div class="banner error" role="note"><Icon name="plug" /><span class="what">{app.view?.health === 'failed' ? t('The SideCar server has failed.') : t('The SideCar server is not running.')}</span>
        <button type="button" class="small-button" onClick={() => app.send({ type: 'do', what: 'restart' })}>{t('Restart Server')}</button></div>
    );
    case 'limited': return (
      <div class="banner" role="note"><Icon name="clock" /><span class="what">{t('Waiting for model')} · {m!.retryAt > app.now ? t('again in {0}', span(m!.retryAt - app.now)) : t('again now')}{m!.attempt > 0 && ` (${t('attempt {0}', m!.attempt)})`}</span>
        <button type="button" class="second small-button" onClick={() => app.send({ type: 'control', run: run!, what: 'retryNow' })}>{t('Retry Now')}</button></div>
    );
    case 'readOnly': return (
      <div class="banner" role="note"><Icon name="circle" /><span class="what">{t('This agent can’t resume')}</span>
        <button type="button" class="second small-button" onClick={() => app.send({ type: 'newRun', summaryOf: run! })}>{t('New With Summary Text')}</button></div>
    );
    default: return null;
  }
}
