import { html, nothing } from 'lit';
import { get } from '../api/client.js';
import { label, shortId } from '../draw/format.js';
import { isOpen } from '../draw/state.js';
import { route } from '../store/route.js';
import { runs } from '../store/runs.js';
import { show } from './dialog.js';
import { icon } from './icon.js';
import { badge } from './bits.js';

const ID = /^(run_)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

async function found(text) {
  const find = (query) =>
    get('/runs', { ...query, now: true, limit: 8 })
      .then((page) => page.items.map((run) => runs.put(run)))
      .catch(() => []);
  if (ID.test(text))
    return get(`/runs/${text}`, { light: true })
      .then((run) => [runs.put(run)])
      .catch(() => []);
  const [byName, byOwn, recipes] = await Promise.all([
    find({ text }),
    find({ external_id: text }),
    get('/recipes', { limit: 50 })
      .then((page) => page.items)
      .catch(() => []),
  ]);
  const ids = new Set();
  const all = [...byOwn, ...byName].filter((run) => !ids.has(run.id) && ids.add(run.id));
  return [
    ...all,
    ...recipes
      .filter((recipe) => recipe.name.toLowerCase().includes(text.toLowerCase()))
      .slice(0, 5)
      .map((recipe) => ({ recipe })),
  ];
}

/** Finds runs, recipes, pages and commands, and goes there. */
export function openPalette(pages, commands) {
  let text = '';
  let rows = [];
  let at = 0;
  let asked = 0;
  const fixed = () =>
    [
      ...pages.map((page) => ({ symbol: page.icon, title: page.title, hint: 'Page', act: () => route.go(page.href) })),
      ...commands.map((command) => ({
        symbol: command.icon,
        title: command.title,
        hint: command.key ?? 'Action',
        act: command.act,
      })),
    ].filter((row) => row.title.toLowerCase().includes(text.toLowerCase()));

  return show((close, draw) => {
    const take = (row) => {
      close();
      row?.act();
    };
    const search = async (value) => {
      text = value.trim();
      at = 0;
      rows = fixed();
      draw();
      const turn = ++asked;
      if (text.length < 2) return;
      const hits = await found(text);
      if (turn !== asked) return;
      rows = [
        ...hits.map((hit) =>
          hit.recipe
            ? {
                symbol: 'play',
                title: label(hit.recipe.name, 80),
                hint: 'Recipe',
                act: () => route.go(`/ui/launch?recipe=${hit.recipe.id}`),
              }
            : {
                run: hit,
                title: label(hit.name, 80),
                hint: shortId(hit.id),
                act: () => route.go(`/ui/runs/${hit.id}`),
              },
        ),
        ...fixed(),
      ];
      draw();
    };
    if (!rows.length && !text) rows = fixed();
    return html`<input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="found"
        aria-label="Search or jump"
        autofocus
        aria-activedescendant=${rows.length ? `found-${at}` : nothing}
        placeholder="Run, recipe, page or action"
        autocomplete="off"
        spellcheck="false"
        @input=${(event) => search(event.target.value)}
        @keydown=${(event) => {
          if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault();
            at = (at + (event.key === 'ArrowDown' ? 1 : -1) + rows.length) % Math.max(1, rows.length);
            draw();
            document.getElementById(`found-${at}`)?.scrollIntoView({ block: 'nearest' });
          } else if (event.key === 'Enter') {
            event.preventDefault();
            take(rows[at]);
          }
        }}
      />
      <ul id="found" role="listbox" aria-label="Found">
        ${rows.map(
          (row, i) =>
            html`<li id="found-${i}" role="option" aria-selected=${i === at} @click=${() => take(row)}>
              ${row.run ? badge(row.run.state, isOpen(row.run) ? runs.reason(row.run) : null) : icon(row.symbol)}<span
                class="cut grow"
                ><bdi>${row.title}</bdi></span
              ><span class="small soft">${row.hint}</span>
            </li>`,
        )}
      </ul>
      ${rows.length ? nothing : html`<p class="pad soft">Nothing is called so.</p>`}`;
  }, 'palette');
}
