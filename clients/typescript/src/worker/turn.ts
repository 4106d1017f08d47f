import { kind } from "../json.js";
import type { StepContext } from "./execution.js";

/** The tool by which turns are served. */
export const TURN = "agent.turn";

/** A call that a turn requests. */
export interface ToolCall {
  readonly tool: string;
  /** An object */
  readonly input: unknown;
}

/** The result of a call. */
export interface CallResult {
  readonly tool: string;
  /** Null when the call was refused or failed; of a long output the beginning and the end, as text */
  readonly output: unknown;
  /** `code`, `class` and `message`; null when it succeeded */
  readonly error: { readonly code: string; readonly class: string; readonly message: string } | null;
  /** Warning to the agent that it repeats a call with the same output; null if absent */
  readonly notice: string | null;
}

/** An earlier turn: the agent's answer, and the results of its calls in their order. */
export interface PastTurn {
  readonly answer: Readonly<Record<string, unknown>>;
  readonly results: readonly CallResult[];
}

/** The answer of a turn, made by `turn.call` or `turn.done`. */
export class TurnAnswer {
  /** @param body the turn's output */
  constructor(readonly body: Readonly<Record<string, unknown>>) {}
}

type Members = Readonly<Record<string, unknown>>;

/** One turn of an agent in its task. Nothing needs to be kept between turns: the server returns them all in the `transcript`. */
export class Turn {
  readonly #input: Members;

  /** @param ctx the step that the turn is: progress, usage, cancellation, gateway */
  constructor(input: unknown, readonly ctx: StepContext) {
    this.#input = (input ?? {}) as Members;
  }

  /** The whole input of the turn. */
  get input(): Members {
    return this.#input;
  }

  /** From 1. */
  get number(): number {
    return this.transcript.length + 1;
  }

  /** The goal of the run. */
  get goal(): string {
    return this.text("goal") ?? "";
  }

  /** The task in a few words. */
  get title(): string {
    return this.text("title") ?? "";
  }

  /** The task in more words; null when the plan says no more. */
  get description(): string | null {
    return this.text("description");
  }

  /** Criteria for the result; null if the plan has none. */
  get successCriteria(): string | null {
    return this.text("success_criteria");
  }

  /** Slug of the agent; null when the task has none. */
  get agent(): string | null {
    return this.text("agent");
  }

  /** The agent's instructions; null if absent. */
  get instructions(): string | null {
    return this.text("instructions");
  }

  /** The model to be used; null when none is named. */
  get model(): string | null {
    return this.text("model");
  }

  /** All that may be called; the server refuses anything else. */
  get tools(): readonly string[] {
    return (this.#input["tools"] as string[] | undefined) ?? [];
  }

  /** The task's inputs, else the run's. */
  get inputs(): Members {
    return (this.#input["inputs"] as Members | undefined) ?? {};
  }

  /** Outputs of the tasks that this one depends on, by their ids. */
  get upstream(): Members {
    return (this.#input["upstream"] as Members | undefined) ?? {};
  }

  /** Why the task's last attempt was not its last, a verifier's feedback for example; null in the first one. */
  get feedback(): unknown {
    return this.#input["feedback"] ?? null;
  }

  /** Earlier turns, the oldest first. */
  get transcript(): readonly PastTurn[] {
    const turns = (this.#input["transcript"] as { answer?: Members; results?: Members[] }[] | undefined) ?? [];
    return turns.map(each => ({ answer: each.answer ?? {}, results: (each.results ?? []).map(result) }));
  }

  /** Results of the calls of the turn before; empty in the first one. */
  get results(): readonly CallResult[] {
    return this.transcript.at(-1)?.results ?? [];
  }

  /** Requests a call of a tool, and another turn with its result. `input` is an object. */
  call(tool: string, input: unknown = {}): TurnAnswer {
    return this.calls([{ tool, input }]);
  }

  /**
   * Requests several calls, and another turn with their results.
   *
   * @param notes members that the next turn finds beside the calls in this turn's answer, such as their reason
   */
  calls(calls: readonly ToolCall[], notes: Members = {}): TurnAnswer {
    for (const { tool, input } of calls) {
      if (typeof input !== "object" || input === null || Array.isArray(input)) {
        throw new TypeError(`the input of a call of ${tool} is an object, not ${kind(input)}`);
      }
    }
    return new TurnAnswer({ ...notes, tool_calls: calls.map(each => ({ name: each.tool, input: each.input })) });
  }

  /** The task is done. */
  done(output: unknown = null): TurnAnswer {
    return new TurnAnswer({ output });
  }

  private text(name: string): string | null {
    const value = this.#input[name];
    return typeof value === "string" ? value : null;
  }
}

function result(call: Members): CallResult {
  const output = "output_excerpt" in call ? call["output_excerpt"] : call["output"];
  const error = (call["error"] as CallResult["error"] | undefined) ?? null;
  return { tool: String(call["tool"] ?? ""), output: error === null ? (output ?? null) : null, error,
    notice: typeof call["notice"] === "string" ? call["notice"] : null };
}
