import { html, nothing } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { all, get, post, read, remove } from '../api/client.js';
import { me } from '../store/me.js';
import { prefs } from '../store/prefs.js';
import { route } from '../store/route.js';
import { count, label, many } from '../draw/format.js';
import { Page } from '../part/page.js';
import { ago, empty, name, problem, skeleton, toast, when } from '../part/bits.js';
import { ask } from '../part/dialog.js';
import { edit, save } from '../part/editor.js';
import { icon } from '../part/icon.js';

const TITLES = { inbox: 'Inbox', assigned: 'Assigned', in_progress: 'In progress', review: 'Review', done: 'Done' };
const STATUSES = Object.entries(TITLES);
const PRIORITIES = ['urgent', 'high', 'medium', 'low'];
const LOADED = 50;
const ofRun = (task) => task.source_type === 'orchestration' || task.source_type === 'orchestration_task';

/** The work board: columns of tasks, moved by menu, keyboard or mouse. Tasks of runs move by themselves. */
class Board extends Page {
  static properties = {
    columns: { state: true },
    parent: { state: true },
    failure: { state: true },
    over: { state: true },
  };
  #people = null;

  constructor() {
    super();
    for (const store of [prefs, me]) this.watch(store);
    this.follows('board', () => this.#load(), undefined, 1_500);
  }

  async #load() {
    const above = route.get('of');
    const query = { ...this.#filter(), limit: LOADED };
    const [{ columns }, parent] = await Promise.all([
      get('/board', query),
      above ? get(`/board/tasks/${above}`) : null,
    ]);
    if (this.dragged) {
      this.soon();
      return;
    } // another order of tickets would end the drag
    this.columns = columns;
    this.parent = parent;
  }

  /** Tasks of people only, unless runs are asked for or a tag is, or the tasks below one. */
  #filter() {
    const filter = { assignee: route.get('assignee'), tag: route.get('tag'), parent_task_id: route.get('of') };
    return filter.parent_task_id || filter.tag || route.get('runs') ? filter : { ...filter, source_type: 'user' };
  }

  async #more(column) {
    const page = await get('/board/tasks', {
      ...this.#filter(),
      status: column.status,
      cursor: column.next_cursor,
      limit: LOADED,
    }).catch((failure) => {
      toast(failure.message, true);
    });
    if (page)
      this.columns = this.columns.map((each) =>
        each.status === column.status
          ? { ...each, items: [...each.items, ...page.items], next_cursor: page.next_cursor }
          : each,
      );
  }

  async #names() {
    this.#people ??= all('/principals', {}, 1000).then(
      ({ items }) => items.map((each) => each.name),
      () => [],
    );
    return this.#people;
  }

  /** Shown at once, and taken back where the server refuses. */
  async #move(task, status) {
    if (!TITLES[status] || status === task.status || ofRun(task) || me.lacks('runs:write')) return;
    const before = this.columns;
    this.columns = before.map((column) =>
      column.status === status
        ? { ...column, count: column.count + 1, items: [{ ...task, status }, ...column.items] }
        : column.status === task.status
          ? { ...column, count: column.count - 1, items: column.items.filter((each) => each.id !== task.id) }
          : column,
    );
    await this.updateComplete;
    this.querySelector(`[data-task="${task.id}"]`)?.focus();
    try {
      const version = await read(`/board/tasks/${task.id}`);
      await save('PATCH', `/board/tasks/${task.id}`, { status }, version);
    } catch (failure) {
      this.columns = before;
      toast(`${failure.message} (${failure.code})`, true);
      status = null;
    }
    await this.read();
    await this.updateComplete;
    if (status) toast(`Moved to ${TITLES[status]}`);
    this.querySelector(`[data-task="${task.id}"]`)?.focus();
  }

  #fields(task, people) {
    return [
      { name: 'title', label: 'Title', required: true, most: 500, value: task?.title },
      { name: 'description', label: 'Description', kind: 'lines', rows: 4, value: task?.description },
      {
        name: 'status',
        label: 'Column',
        kind: 'select',
        options: STATUSES,
        value: task?.status ?? 'inbox',
        half: true,
      },
      {
        name: 'priority',
        label: 'Priority',
        kind: 'select',
        options: PRIORITIES.map((each) => [each, each]),
        value: task?.priority ?? 'medium',
        half: true,
      },
      {
        name: 'assignee',
        label: 'Assigned to',
        list: people,
        value: task ? task.assignee : route.get('assignee'),
        half: true,
      },
      { name: 'tags', label: 'Tags', hint: 'With commas between them', value: task?.tags.join(', '), half: true },
    ];
  }

  static #body(values) {
    return {
      ...values,
      tags: (values.tags ?? '')
        .split(',')
        .map((each) => each.trim())
        .filter(Boolean),
    };
  }

  async #create(status) {
    const people = await this.#names();
    const made = await edit({
      title: 'New task',
      yes: 'Create',
      fields: this.#fields(null, people).map((field) =>
        field.name === 'status' && status ? { ...field, value: status } : field,
      ),
      save: (values) =>
        post(
          '/board/tasks',
          Object.fromEntries(
            Object.entries({ ...Board.#body(values), parent_task_id: this.parent?.id ?? null }).filter(
              ([, value]) => value !== null,
            ),
          ),
        ),
    });
    if (made) {
      toast('Created');
      this.read();
    }
  }

  async #open(task) {
    const [people, version] = await Promise.all([
      this.#names(),
      read(`/board/tasks/${task.id}`).catch((failure) => {
        toast(failure.message, true);
      }),
    ]);
    if (!version) return;
    const now = version.value;
    const path = `/board/tasks/${now.id}`;
    const managed = ofRun(now);
    const lacks = me.lacks('runs:write');
    const more = () =>
      html`<dl class="facts wide-facts small">
          ${
            now.result
              ? html`<dt>result</dt>
                  <dd>${name(now.result, 2000)}</dd>`
              : nothing
          }${
            now.error_message
              ? html`<dt>error</dt>
                  <dd class="i-failed">${name(now.error_message, 2000)}</dd>`
              : nothing
          }
          <dt>made by</dt>
          <dd>${name(now.created_by_id ?? now.created_by_type, 80)}, ${when(now.created_at)}</dd>
          <dt>changed</dt>
          <dd>${ago(now.updated_at)} ago</dd>
        </dl>
        <div class="row wrap">
          ${now.run_id ? html`<a class="btn low" href="/ui/runs/${now.run_id}" @click=${(event) => event.target.closest('dialog').close()}>Open the run</a>` : nothing}
          ${now.children ? html`<a class="btn low" href="/ui/board?of=${now.id}" @click=${(event) => event.target.closest('dialog').close()}>${many(now.children, 'task')} below it</a>` : nothing}
          ${managed ? nothing : html`<button type="button" class="btn low danger" ?disabled=${!!lacks} title=${lacks ?? nothing} @click=${(event) => this.#remove(now, event.target.closest('dialog'))}>Delete…</button>`}
        </div>`;
    const fields = managed
      ? this.#fields(now, people).filter((field) => field.name === 'priority')
      : this.#fields(now, people);
    const saved = await edit({
      title: html`${name(now.title, 200)}`,
      text: managed ? 'A run manages this task. People change its priority.' : null,
      yes: 'Save',
      fields,
      more,
      save: (values) => save('PATCH', path, managed ? values : Board.#body(values), version),
    });
    if (saved) toast('Saved');
    if (saved !== undefined) this.read();
  }

  async #remove(task, dialog) {
    if (!(await ask({ title: 'Delete the task?', text: html`${name(task.title, 200)}`, yes: 'Delete', danger: true })))
      return;
    await remove(`/board/tasks/${task.id}`).then(
      () => {
        toast('Deleted');
        dialog.close();
        this.read();
      },
      (failure) => toast(failure.message, true),
    );
  }

  #keys(event, task, at) {
    const columns = this.columns.map((each) => each.status);
    const place = columns.indexOf(task.status);
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.shiftKey && step) {
      event.preventDefault();
      this.#move(task, columns[place + step]);
    } else if (step || event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      event.preventDefault();
      const column = this.columns[place + (step ?? 0)];
      const to =
        column?.items[step ? Math.min(at, column.items.length - 1) : at + (event.key === 'ArrowDown' ? 1 : -1)];
      this.querySelector(`[data-task="${to?.id}"]`)?.focus();
    }
  }

  #ticket(task, at) {
    const fixed = ofRun(task) || me.lacks('runs:write');
    return html`<li
      class="card ticket p-${task.priority}"
      draggable=${fixed ? 'false' : 'true'}
      @dragstart=${(event) => {
        event.dataTransfer.setData('text/plain', String(task.id));
        event.dataTransfer.effectAllowed = 'move';
        this.dragged = task;
      }}
      @dragend=${() => {
        this.dragged = null;
        this.over = null;
      }}
    >
      <button
        class="ticket-title"
        data-task=${task.id}
        aria-keyshortcuts="Shift+ArrowLeft Shift+ArrowRight"
        @click=${() => this.#open(task)}
        @keydown=${(event) => this.#keys(event, task, at)}
      >
        <span class="clamp">${name(task.title, 400)}</span>
      </button>
      <div class="row small soft wrap">
        <span class="tag">${task.priority}</span
        >${task.assignee ? html`<span class="row cut">${icon('user', 'small')}<span class="cut">${name(task.assignee, 60)}</span></span>` : nothing}
        ${task.tags
          .filter((tag) => tag !== 'mission' && tag !== task.status)
          .slice(0, 3)
          .map(
            (tag) => html`<span class="tag cut">${name(tag, 40)}</span>`,
          )}${task.children ? html`<a href="/ui/board?of=${task.id}">${count(task.children)} below</a>` : nothing}
        <span class="end row"
          >${task.run_id ? html`<a href="/ui/runs/${task.run_id}">run</a>` : nothing}
          ${
            fixed
              ? nothing
              : html`<label class="move" title="Move to another column"
                  >${icon('more')}<span class="hidden-text">Move ${label(task.title, 80)} to</span
                  ><select
                    @change=${(event) => {
                      const to = event.target.value;
                      event.target.value = task.status;
                      this.#move(task, to);
                    }}
                  >
                    ${STATUSES.map(
                      ([status, title]) =>
                        html`<option value=${status} ?selected=${status === task.status}>${title}</option>`,
                    )}
                  </select></label
                >`
          }</span
        >
      </div>
    </li>`;
  }

  #column(column) {
    const lacks = me.lacks('runs:write');
    return html`<section
      class="column ${this.over === column.status ? 'over' : ''}"
      aria-label=${TITLES[column.status]}
      @dragover=${(event) => {
        if (this.dragged) {
          event.preventDefault();
          this.over = column.status;
        }
      }}
      @drop=${(event) => {
        event.preventDefault();
        const { dragged } = this;
        this.over = null;
        if (dragged) this.#move(dragged, column.status);
      }}
    >
      <header class="row">
        <h2>
          ${TITLES[column.status] ?? column.status}
          <span class="soft num">${count(column.count)}${column.more ? '+' : ''}</span>
        </h2>
        <button
          class="btn bare low only end"
          ?disabled=${!!lacks}
          title=${lacks ?? `New task in ${TITLES[column.status]}`}
          aria-label="New task in ${TITLES[column.status]}"
          @click=${() => this.#create(column.status)}
        >
          +
        </button>
      </header>
      <ul class="stack">
        ${repeat(
          column.items,
          (task) => task.id,
          (task, at) => this.#ticket(task, at),
        )}
      </ul>
      ${column.items.length ? nothing : html`<p class="small faint">Nothing here</p>`}
      ${column.next_cursor ? html`<button class="btn low" @click=${() => this.#more(column)}>More</button>` : nothing}
    </section>`;
  }

  render() {
    const lacks = me.lacks('runs:write');
    const assignee = route.get('assignee');
    return html`<div class="head">
        <h1>Board</h1>
        ${this.parent ? html`<span class="soft">below</span><a class="cut" href="/ui/board${this.parent.parent_task_id ? `?of=${this.parent.parent_task_id}` : ''}">${name(this.parent.title, 120)}</a><a class="btn low bare" href="/ui/board">All tasks</a>` : nothing}
        <span class="end row wrap"
          ><span class="small soft wide-only"><kbd>Shift</kbd> <kbd>←</kbd> <kbd>→</kbd> move</span>
          ${this.parent ? nothing : html`<label class="row small"><input type="checkbox" .checked=${!!route.get('runs')} @change=${(event) => route.set({ runs: event.target.checked ? 'yes' : null })} />Runs too</label>`}
          <label class="row small"
            ><input
              type="checkbox"
              .checked=${assignee === me.name}
              @change=${(event) => route.set({ assignee: event.target.checked ? me.name : null })}
            />Only mine</label
          >
          <button class="btn first" ?disabled=${!!lacks} title=${lacks ?? nothing} @click=${() => this.#create()}>
            New task
          </button></span
        >
      </div>
      ${['assignee', 'tag'].some((each) => route.get(each)) ? html`<div class="row wrap">${['assignee', 'tag'].filter((each) => route.get(each)).map((each) => html`<button class="chip" @click=${() => route.set({ [each]: null })}>${each}: ${name(route.get(each), 60)}${icon('cross', 'small')}<span class="hidden-text">remove</span></button>`)}</div>` : nothing}
      ${
        this.failure
          ? problem(this.failure, () => this.read())
          : !this.columns
            ? html`<div class="card">${skeleton()}</div>`
            : this.columns.every((column) => !column.items.length) && !assignee && !this.parent
              ? html`<div class="card">
                  ${empty('graph', 'Nothing on the board', 'People add tasks with "New task". "Runs too" shows the runs and their tasks. Or:', 'keelson board create "Call the printer"')}
                </div>`
              : html`<div class="board" role="group" aria-label="Columns" tabindex="-1">
                  ${this.columns.map((column) => this.#column(column))}
                </div>`
      }`;
  }
}
customElements.define('k-board', Board);
