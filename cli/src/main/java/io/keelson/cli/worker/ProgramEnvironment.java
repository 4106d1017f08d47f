package io.keelson.cli.worker;

import io.keelson.client.worker.StepContext;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Variables of a started program: variables of the worker except its settings and keys of model providers, variables from
 * {@code --env}, and variables of the step. The step's gateway address and token replace the address and key of a provider.
 */
final class ProgramEnvironment {

    private static final String OWN = "KEELSON_";
    private static final Set<String> PROVIDER_KEYS = Set.of("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE",
            "OPENAI_ORG_ID", "OPENAI_ORGANIZATION", "OPENAI_PROJECT_ID", "AZURE_OPENAI_API_KEY", "CODEX_API_KEY",
            "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN",
            "AI_GATEWAY_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "MISTRAL_API_KEY",
            "GROQ_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY", "OPENROUTER_API_KEY", "COHERE_API_KEY", "CO_API_KEY",
            "TOGETHER_API_KEY", "FIREWORKS_API_KEY", "PERPLEXITY_API_KEY", "CEREBRAS_API_KEY", "HF_TOKEN",
            "REPLICATE_API_TOKEN", "AWS_BEARER_TOKEN_BEDROCK");

    private final Map<String, String> inherited = new HashMap<>();
    private final Map<String, String> chosen;
    private final boolean ownFolder;
    private final Path workerFolder;

    /**
     * @param worker variables of the worker
     * @param chosen variables that the user sets; they replace inherited ones, and no variable of the step
     * @param ownFolder whether the home folder is one of the step
     */
    ProgramEnvironment(Map<String, String> worker, Map<String, String> chosen, boolean ownFolder, Path workerFolder) {
        this.chosen = Map.copyOf(chosen);
        this.ownFolder = ownFolder;
        this.workerFolder = workerFolder;
        worker.forEach((name, value) -> {
            if (!name.startsWith(OWN) && !PROVIDER_KEYS.contains(name)) {
                inherited.put(name, value);
            }
        });
    }

    Map<String, String> of(StepContext step, StepFolder folder, Instant startedAt) {
        Map<String, String> variables = new HashMap<>(inherited);
        variables.put("TZ", "UTC");
        variables.putAll(chosen);
        if (ownFolder) {
            variables.put("HOME", folder.home().toString());
            variables.put("CODEX_HOME", folder.home().resolve(".codex").toString());
        }
        variables.put("KEELSON_WORKER_DIR", workerFolder.toString());
        variables.put("KEELSON_INPUT_FILE", folder.input().toString());
        variables.put("KEELSON_OUT", folder.out().toString());
        variables.put("KEELSON_STARTED_AT", startedAt.toString());
        variables.put("KEELSON_TOOL", step.tool());
        variables.put("KEELSON_STEP_ID", step.stepId());
        variables.put("KEELSON_TASK_ID", step.taskId());
        variables.put("KEELSON_RUN_ID", step.runId());
        variables.put("KEELSON_EFFECT_KEY", step.effectKey());
        variables.put("KEELSON_ATTEMPT", Integer.toString(step.attempt()));
        if (step.gateway() != null) {
            variables.putAll(step.gateway().environment());
        }
        if (step.deadline() != null) {
            variables.put("KEELSON_DEADLINE", step.deadline().toString());
        }
        if (step.traceparent() != null) {
            variables.put("TRACEPARENT", step.traceparent());
        }
        return variables;
    }
}
