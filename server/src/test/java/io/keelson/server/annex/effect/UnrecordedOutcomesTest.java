package io.keelson.server.annex.effect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.f4b6a3.uuid.UuidCreator;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.DatabaseOptions;
import io.keelson.server.base.db.DbClock;
import io.keelson.server.base.db.DetachableDatabase;
import io.keelson.server.base.db.SqlFailure;
import io.keelson.server.base.json.Json;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** The database goes away while an adapter executes a command that must not be repeated. */
class UnrecordedOutcomesTest {

    private static final UUID WORKSPACE = new UUID(0, 1);
    private static final DatabaseOptions IMPATIENT = new DatabaseOptions(2, Duration.ofSeconds(10),
            Duration.ofSeconds(30), Duration.ofSeconds(60), Duration.ofSeconds(2));

    private DetachableDatabase detachable;
    private Database database;
    private final AtomicInteger executed = new AtomicInteger();
    private CommandHandler handler;

    /** Loses the database before it answers. */
    private final class Effects implements EffectAdapter {

        @Override
        public String name() {
            return "test";
        }

        @Override
        public boolean idempotent(String type) {
            return false;
        }

        @Override
        public CommandOutcome execute(Effect effect) {
            executed.incrementAndGet();
            try {
                detachable.detach();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return new CommandOutcome.Done("reference", Json.object().put("status", "open"));
        }

        @Override
        public Map<UUID, ObjectNode> read(UUID workspaceId, ResourceKind kind, Collection<Made> made) {
            return Map.of();
        }
    }

    @BeforeEach
    void start() throws Exception {
        detachable = new DetachableDatabase();
        database = new Database(detachable.url(), IMPATIENT);
        detachable.execute(
                "insert into workspaces (id, name) values ('" + WORKSPACE + "', 'test') on conflict do nothing");
        handler = new CommandHandler(database, DbClock.DATABASE, new Adapters(new Effects(), List.of(), null),
                UuidCreator::getTimeOrderedEpoch, Duration.ofMinutes(1));
    }

    @AfterEach
    void stop() throws Exception {
        handler.unrecorded().close();
        database.close();
        detachable.close();
    }

    private void send() {
        CommandRequest request = new CommandRequest(WORKSPACE, CommandTypes.ORDER_PLACE, EffectCommand.Source.API,
                "key", Json.object().put("symbol", "BTC-USD"), null,
                new CommandRequest.Asker("test", "human", null, null, AuditOrigin.SERVER));
        assertThatThrownBy(() -> handler.run(request)).isInstanceOf(SqlFailure.class);
        assertThat(executed).hasValue(1);
    }

    private String state() throws Exception {
        return detachable.read("select state || ' ' || coalesce(provider_reference, '') from execution_commands");
    }

    @Test
    void anOutcomeIsRecordedWhenTheDatabaseIsBack() throws Exception {
        send();
        assertThat(state()).isEqualTo("executing ");
        detachable.attach();
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> state().equals("completed reference"));
        assertThat(detachable.read("select count(*) from operator_audit where action = 'command_completed'"))
                .isEqualTo("1");
    }

    @Test
    void anOutcomeIsRecordedBeforeItsCommandIsGivenUp() throws Exception {
        handler.unrecorded().task().close();
        send();
        detachable.execute("update execution_commands set wake_at = now() - interval '1 minute'");
        detachable.attach();
        // the pool may have one more lost connection
        Awaitility.await().ignoreException(SqlFailure.class).until(() -> handler.takeDue(1).isEmpty());
        assertThat(state()).isEqualTo("completed reference");
        assertThat(executed).hasValue(1);
    }
}
