package io.keelson.server.engine.execute;

import io.keelson.core.policy.ErrorClass;
import io.keelson.server.base.compute.Computation;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.expr.ExpressionException;
import io.keelson.server.base.expr.Expressions;
import io.keelson.server.base.expr.Expressions.Parsed;
import io.keelson.server.base.expr.References;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.store.read.EndedSteps;
import io.keelson.server.engine.store.read.ScopeReader;
import io.keelson.server.engine.store.read.ScopeReader.LastRound;
import io.keelson.server.engine.store.read.ScopeReader.Wanted;
import io.keelson.server.engine.store.read.TranscriptTooLongException;
import io.keelson.server.tenant.secret.Redaction;
import io.keelson.server.tenant.secret.SecretException;
import io.keelson.server.tenant.secret.SecretStore;
import io.keelson.server.tenant.secret.SecretStore.Opened;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Resolves expressions in a run. Reads only the values that they name. */
public final class Scopes {
    /** The parts of the scope that a task of an undo has from its original. */
    private static final List<String> ORIGINAL = List.of("input", "output", "item", "index", "round");

    private final Database database;
    private final ScopeReader reader;
    private final Expressions expressions;
    private final SecretStore secrets;
    private final @Nullable Semaphore permits;

    /**
     * A tool's input.
     *
     * @param redaction the secrets to redact from records
     */
    public record ToolInput(JsonNode json, Redaction redaction) {}

    public Scopes(Database database, ScopeReader reader, Expressions expressions, SecretStore secrets) {
        this(database, reader, expressions, secrets, null);
    }

    private Scopes(Database database, ScopeReader reader, Expressions expressions, SecretStore secrets,
            @Nullable Semaphore permits) {
        this.database = database;
        this.reader = reader;
        this.expressions = expressions;
        this.secrets = secrets;
        this.permits = permits;
    }

    /** Scopes for threads that hold a permit of {@code held}: they release it while a long evaluation waits or runs. */
    Scopes yielding(Semaphore held) {
        return new Scopes(database, reader, expressions, secrets, held);
    }

    private Expressions of(Supplier<UUID> workspace, UUID run) {
        Runnable before = permits == null ? () -> {
        } : permits::release;
        Runnable after = permits == null ? () -> {
        } : permits::acquireUninterruptibly;
        return expressions.on(new Expressions.Tenant(() -> new Computation.Owner(workspace.get(), run), before, after));
    }

    private Expressions of(UUID run) {
        return of(() -> database.withConnection(c -> reader.starter(c, run).workspaceId()), run);
    }

    /** Whether an expression is true; with the task's steps, upstreams and item. */
    boolean condition(UUID run, UUID task, String template) {
        return of(run).condition(template, of(run, task, Json.string(template)));
    }

    /** Whether the last round of a task ends its rounds: by {@code .output}, {@code .previous} and {@code .round}. */
    boolean ends(UUID run, UUID task, String until, LastRound last) {
        ObjectNode scope = (ObjectNode) of(run, task, Json.string(until));
        scope.set("output", last.output());
        scope.set("previous", last.previous());
        scope.put("round", last.number());
        return of(run).condition(until, scope);
    }

    /** Whether a bare jq expression gives a value other than false and null for the input. */
    boolean holds(UUID run, String program, JsonNode input) {
        return of(run).evaluate(program, input).stream()
                .anyMatch(value -> !value.isNull() && !(value.isBoolean() && !value.booleanValue()));
    }

    /**
     * A JSON text with its expressions resolved.
     *
     * @param task whose steps, upstreams and item are in scope; null for the run's own output
     */
    JsonNode resolve(UUID run, @Nullable UUID task, String template) {
        JsonNode tree = Json.read(template);
        return template.contains("${") ? of(run).resolve(tree, of(run, task, tree)) : tree;
    }

    /** A template's result for each item, with {@code .item} and {@code .index}, as one line of text. */
    List<String> texts(UUID run, UUID task, String template, JsonNode items) {
        JsonNode tree = Json.read(template);
        JsonNode scope = of(run, task, tree);
        List<String> texts = new ArrayList<>(items.size());
        for (int i = 0; i < items.size(); i++) {
            ObjectNode own = JsonNodeFactory.instance.objectNode().setAll((ObjectNode) scope);
            own.set("item", items.get(i));
            own.put("index", i);
            JsonNode text = of(run).resolve(tree, own);
            texts.add((text.isString() ? text.stringValue() : text.toString()).strip());
        }
        return texts;
    }

    /**
     * The input of a tool's execution, with opened secrets.
     *
     * @throws ExpressionException also {@code SECRET_NOT_FOUND} and {@code SECRET_KEY_MISSING}; its message shows no
     *                             secret
     */
    public ToolInput resolveInput(UUID workspace, UUID run, UUID task, String template) {
        if (!namesSecrets(template)) {
            if (!template.contains("${")) {
                return new ToolInput(Json.read(template), Redaction.NONE);
            }
            Parsed parsed = expressions.parsed(template);
            return new ToolInput(of(() -> workspace, run).resolve(parsed,
                    read(run, task, toRead(parsed.references()), new EndedSteps())), Redaction.NONE);
        }
        JsonNode tree = Json.read(template);
        Opened opened = open(workspace, tree);
        try {
            return new ToolInput(of(() -> workspace, run).resolve(tree, of(run, task, tree), opened.values()),
                    opened.redaction());
        } catch (ExpressionException e) {
            throw new ExpressionException(e.code(), opened.redaction().text(String.valueOf(e.getMessage())));
        }
    }

    /** Whether an input that opens no secrets reads no other step of its task, and nothing else that may change before the step. */
    public boolean isResolvable(String template) {
        if (!template.contains("${")) {
            return true;
        }
        References named = expressions.parsed(template).references();
        return !named.all() && !named.allSteps() && named.steps().isEmpty() && !named.allTasks()
                && named.others().isEmpty() && named.secrets().isEmpty();
    }

    /**
     * The input of a step of a chain, which opens no secrets.
     *
     * @throws ExpressionException as above
     * @throws InterruptedException if the chain has lost its lease
     */
    JsonNode resolveInput(UUID workspace, UUID run, UUID task, String template, ChainScope chain)
            throws InterruptedException {
        if (!template.contains("${")) {
            return Json.read(template);
        }
        Parsed parsed = expressions.parsed(template);
        References named = parsed.references();
        return of(() -> workspace, run).resolve(parsed,
                chain.of(named, toRead(named), (wanted, ended) -> read(run, task, wanted, ended)));
    }

    /** The error's class: another server may have the key that this one lacks. */
    public static ErrorClass errorClass(ExpressionException e) {
        return e.code().equals(SecretException.KEY_MISSING) ? ErrorClass.INFRASTRUCTURE : ErrorClass.PERMANENT;
    }

    private Opened open(UUID workspace, JsonNode template) {
        try {
            return secrets.open(workspace, expressions.references(template).secrets());
        } catch (SecretException e) {
            throw new ExpressionException(e.code(), String.valueOf(e.getMessage()));
        }
    }

    /** The secrets to redact from records of an execution with this input. */
    public Redaction redaction(UUID workspace, String template) {
        return namesSecrets(template)
                ? secrets.redaction(workspace, expressions.references(Json.read(template)).secrets())
                : Redaction.NONE;
    }

    /** False for nearly all inputs, and never false for one with secrets. */
    private static boolean namesSecrets(String template) {
        return template.contains("secret");
    }

    /** The scope of the template's expressions. */
    JsonNode of(UUID run, @Nullable UUID task, JsonNode template) {
        return read(run, task, toRead(expressions.references(template)), new EndedSteps());
    }

    private static Wanted toRead(References named) {
        return new Wanted(named.tasks(), named.allTasks(), named.steps(), named.allSteps(),
                named.reach("task", "output"), named.reach("run", "plan"), named.reach("failure"),
                named.reach("transcript"), named.reach("previous"),
                ORIGINAL.stream().anyMatch(named::reach));
    }

    private ObjectNode read(UUID run, @Nullable UUID task, Wanted wanted, EndedSteps ended) {
        try {
            return wanted.many() ? database.inTransaction(c -> reader.scope(c, run, task, wanted, ended))
                    : database.withConnection(c -> reader.scope(c, run, task, wanted, ended));
        } catch (TranscriptTooLongException e) {
            throw new ExpressionException(TranscriptTooLongException.CODE, String.valueOf(e.getMessage()));
        }
    }
}
