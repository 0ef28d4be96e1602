// The signs of the page, drawn on 16 by 16.

const paths = {
  chevron: 'M6 4l4 4-4 4',
  down: 'M4 6l4 4 4-4',
  file: 'M4.5 2h5L12 4.5V14H4.5zM9 2v3h3',
  folder: 'M2 4h4.5L8 5.5h6V13H2z',
  pencil: 'M3 13l.8-3L11 2.8 13.2 5 6 12.2zM9.5 4.3l2.2 2.2',
  trash: 'M3 4.5h10M6.5 4V2.5h3V4M4.5 4.5l.6 9h5.8l.6-9M6.8 7v4M9.2 7v4',
  terminal: 'M2.5 3h11v10h-11zM5 6l2 2-2 2M8.5 10.5H11',
  thought: 'M8 2.5a4 4 0 00-2 7.4V12h4V9.9a4 4 0 00-2-7.4zM6.5 14h3',
  tool: 'M9.5 3.2a3.2 3.2 0 00-.4 4.4L3 13.7M9.5 3.2L9.3 5.5l1.2 1.2 2.3-.2a3.2 3.2 0 01-3.7 1.1',
  agent: 'M4 6.5h8v6H4zM8 6.5v-3M6.5 3.5h3M6.3 9v1M9.7 9v1M2.5 8.5v2M13.5 8.5v2',
  check: 'M3 8.5l3.2 3.2L13 5',
  cross: 'M4 4l8 8M12 4l-8 8',
  stop: 'M4.5 4.5h7v7h-7z',
  clock: 'M8 2.5a5.5 5.5 0 100 11 5.5 5.5 0 000-11zM8 5v3.2l2 1.3',
  question: 'M8 2.5a5.5 5.5 0 100 11 5.5 5.5 0 000-11zM6.3 6.5a1.7 1.7 0 113 1c-.8.6-1.3.900-1.3 1.8M8 11v.6',
  key: 'M5.5 8a2.5 2.5 0 100 5 2.5 2.5 0 000-5zM7.3 8.7L13 3M10.3 5.7l2 2M12 4l1.5 1.5',
  plug: 'M5 9.5L2.5 12M5 5.5l5.5 5.5c-1.5 1.5-3.5 1.5-4.7.3-1.3-1.3-2.3-4.3-.8-5.8zM8 6l2.5-2.5M10.5 8.5L13 6',
  warning: 'M8 2.5L14 13H2zM8 6.5v3M8 11v.7',
  lightning: 'M9 2L4 9h3.5L7 14l5-7H8.5z',
  circle: 'M8 3a5 5 0 100 10A5 5 0 008 3z',
  circleWide: 'M8 2.5a5.5 5.5 0 100 11 5.5 5.5 0 000-11z',
  dot: 'M8 6a2 2 0 100 4 2 2 0 000-4z',
  half: 'M8 2.5a5.5 5.5 0 010 11',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  up: 'M8 13V3.5M4 7.5l4-4 4 4',
  plus: 'M8 3v10M3 8h10',
  image: 'M2.5 3.5h11v9h-11zM2.5 11l3-3 2.5 2.5 2-2 3.5 3.5M10.5 6.2h.01',
  list: 'M5.5 4.5H13M5.5 8H13M5.5 11.5H13M3 4.5h.01M3 8h.01M3 11.5h.01',
  diff: 'M8 3v6M5 6h6M5 12.5h6',
  selection: 'M3 3.5h10M3 6.5h6M3 9.5h8M3 12.5h4',
  queue: 'M3 4h10M3 7.5h10M3 11h6',
  back: 'M6 4L2.5 7.5 6 11M2.5 7.5H10a3.5 3.5 0 010 6H8',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, look = '' }: { name: IconName; look?: string }) {
  return (
    <svg class={`icon ${look}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}

/** Turns; with reduced motion it stands still. */
export function Spinner() {
  return <svg class="icon spin" viewBox="0 0 16 16" aria-hidden="true" focusable="false"><path class="track" d={paths.circleWide} /><path d={paths.half} /></svg>;
}
