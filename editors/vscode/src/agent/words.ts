// How the state of a run is put, in a sign and in words. No VS Code in here.
import type { Translate } from '../words';
import type { RunInfo } from './event';

export function glyph(run: Pick<RunInfo, 'state' | 'waitingFor'>): string {
  switch (run.state) {
    case 'running': return '◐';
    case 'waiting': return '?';
    case 'paused': return '■';
    case 'idle': return '●';
    case 'ended': return '✓';
  }
}

export function stateWord(run: Pick<RunInfo, 'state'>, t: Translate): string {
  switch (run.state) {
    case 'running': return t('Working');
    case 'waiting': return t('Needs you');
    case 'paused': return t('Paused');
    case 'idle': return t('Ready');
    case 'ended': return t('Ended');
  }
}

/** What the status bar says of the runs; empty when there is nothing to say. */
export function summary(runs: RunInfo[], t: Translate): string {
  const working = runs.filter(r => r.state === 'running').length, waiting = runs.filter(r => r.state === 'waiting').length;
  return [working > 0 ? t('{0} working', working) : '', waiting > 0 ? (waiting === 1 ? t('1 needs you') : t('{0} need you', waiting)) : ''].filter(Boolean).join(' · ');
}
