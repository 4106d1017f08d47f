/**
 * The models and tools of a step, by the wires of the providers: each request is held against the run's budget, recorded, and
 * answered from the record when the step is executed again. The token is valid while the worker has the step, and is in no
 * representation of this object.
 */
export class Gateway {
  readonly #url: string;
  readonly #token: string;

  constructor(server: string, token: string) {
    this.#url = `${server}/gateway`;
    this.#token = token;
  }

  /** The bearer token of the step. */
  get token(): string {
    return this.#token;
  }

  /** Options of `new OpenAI(…)` of `openai`, and of `createOpenAI(…)` of `@ai-sdk/openai`. */
  openai(): { baseURL: string; apiKey: string } {
    return { baseURL: `${this.#url}/openai/v1`, apiKey: this.#token };
  }

  /** Options of `new Anthropic(…)` of `@anthropic-ai/sdk`. */
  anthropic(): { baseURL: string; apiKey: string } {
    return { baseURL: `${this.#url}/anthropic`, apiKey: this.#token };
  }

  /** Options of providers of `ai`: `createOpenAI(ctx.gateway.ai("openai"))`, `createAnthropic(ctx.gateway.ai("anthropic"))`. */
  ai(wire: "openai" | "anthropic"): { baseURL: string; apiKey: string } {
    return { baseURL: `${this.#url}/${wire}/v1`, apiKey: this.#token };
  }

  /** Address of the step's tools over the Model Context Protocol, with the token as bearer. */
  mcp(): string {
    return `${this.#url}/mcp`;
  }

  /** Variables by which a program finds the gateway. They also switch off what would send the token to a provider's services. */
  environment(): Record<string, string> {
    const { baseURL, apiKey } = this.openai();
    return { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey, ANTHROPIC_BASE_URL: this.anthropic().baseURL,
      ANTHROPIC_API_KEY: apiKey, ANTHROPIC_AUTH_TOKEN: apiKey, KEELSON_MCP_URL: this.mcp(), KEELSON_STEP_TOKEN: apiKey,
      OPENAI_AGENTS_DISABLE_TRACING: "1", DISABLE_TELEMETRY: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" };
  }
}
