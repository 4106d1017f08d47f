package io.keelson.server.engine.execute;

import io.keelson.core.policy.Effects;
import io.keelson.core.policy.ErrorClass;
import io.keelson.core.run.Command.Evaluation;
import io.keelson.core.run.SourceStep;
import io.keelson.core.run.StepError;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.json.Json;
import io.keelson.server.engine.execute.ToolRunner.AnnouncedEffects;
import io.keelson.server.engine.store.queue.ResultCache;
import io.keelson.server.engine.store.queue.ResultCache.Key;
import io.keelson.server.engine.store.read.ResultSources;
import io.keelson.server.engine.store.read.ResultSources.Reader;
import io.keelson.server.engine.store.read.ResultSources.Source;
import io.keelson.server.engine.store.read.ResultSources.State;
import io.keelson.server.engine.tool.ToolCatalog;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.UUID;
import tools.jackson.databind.JsonNode;

/**
 * Finds the result that a step may take over, in a transaction that locks the key: of several steps at once, one computes the result, and
 * the others wait for it.
 */
public final class ResultLookup {
    private static final int SHOWN = 200;

    private final Database database;
    private final ResultSources sources;
    private final ResultCache cache;
    private final ToolCatalog catalog;
    private final AnnouncedEffects announced;

    /** @param announced the effects of a worker's tool as its workers announce them; null if they do not */
    public ResultLookup(Database database, ResultSources sources, ResultCache cache, ToolCatalog catalog,
            AnnouncedEffects announced) {
        this.database = database;
        this.sources = sources;
        this.cache = cache;
        this.catalog = catalog;
        this.announced = announced;
    }

    /** The answer for a step that may take over a result. */
    Evaluation find(UUID step, Scopes scopes) {
        Reader reader = database.withConnection(c -> sources.reader(c, step));
        if (reader.rule() == null) {
            return new Evaluation.Computes();
        }
        Effects effects = catalog.find(reader.workspace(), reader.tool()).map(tool -> tool.spec().effects())
                .orElseGet(() -> announced.of(reader.workspace(), reader.tool()));
        if (effects != null && effects != Effects.READ && !reader.turn()) {
            return broken("CACHE_NOT_ALLOWED", "its workers announce effects of '" + reader.tool() + "': "
                    + effects.wire() + "; a result of a tool with effects is not taken over");
        }
        String template = reader.rule().key() == null ? reader.input() : Json.string(reader.rule().key()).toString();
        JsonNode value = scopes.resolve(reader.run(), reader.task(), template);
        if (value.isNull()) {
            return broken("CACHE_KEY_MISSING", "the key of its cache gives null");
        }
        String text = value.toString();
        Key key = new Key(reader.workspace(), reader.tool(), Json.digest(value),
                text.substring(0, Math.min(SHOWN, text.length())));
        Evaluation found = database.inTransaction(c -> find(c, key, reader, step));
        // the end of the other task may have woken the waiting steps before this one was among them
        return found instanceof Evaluation.ComputedBy ? database.inTransaction(c -> find(c, key, reader, step)) : found;
    }

    private Evaluation find(Connection c, Key key, Reader reader, UUID step) throws SQLException {
        long age = Objects.requireNonNull(reader.rule()).maxAgeSeconds();
        UUID holder = cache.reserve(c, key, reader.run(), step, age);
        if (holder.equals(step)) {
            return new Evaluation.Computes();
        }
        Source source = sources.source(c, holder, age).orElse(null);
        State state = source == null || reader.again() ? State.NONE : source.state();
        return switch (state) {
            case COMPUTING -> {
                SourceStep other = source(Objects.requireNonNull(source), holder);
                if (sources.waitsFor(c, other.task(), reader)) {
                    yield new Evaluation.Computes();
                }
                cache.await(c, key.workspace(), reader.run(), step, other.task());
                yield new Evaluation.ComputedBy(other);
            }
            case READY -> new Evaluation.Reused(Objects.requireNonNull(Objects.requireNonNull(source).output()),
                    source(source, holder));
            case FILES -> new Evaluation.Computes();
            case NONE -> {
                cache.replace(c, key, reader.run(), step, age);
                yield new Evaluation.Computes();
            }
        };
    }

    private static SourceStep source(Source source, UUID step) {
        return new SourceStep(source.run(), source.task(), step);
    }

    private static Evaluation broken(String code, String message) {
        return new Evaluation.Broken(new StepError(code, ErrorClass.PERMANENT, message));
    }
}
