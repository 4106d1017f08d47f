package io.keelson.server.api.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.keelson.core.Breadth;
import io.keelson.server.annex.postgres.EmbeddedPostgres;
import io.keelson.server.annex.postgres.EmbeddedPostgresOptions;
import io.keelson.server.api.http.support.ExceptionMapper;
import io.keelson.server.base.db.DatabaseUrl;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.base.db.TestPostgres;
import io.keelson.server.base.log.LogContext;
import io.keelson.server.base.problem.StartupException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

@Breadth.Spread
class OutageTest {

    /** As PostgreSQL says it when a table cannot grow, on tables that take no rows. */
    @Test
    void aFullDiskAndAReadOnlyDatabaseAreCalledThat(@TempDir Path folder) throws Exception {
        try (ApiServer api = new ApiServer(folder)) {
            api.sql("""
                    create function full_disk() returns trigger language plpgsql as $$
                    begin raise exception 'could not extend file' using errcode = '53100'; end $$;
                    create trigger full_disk before insert on orchestration_runs
                        for each row execute function full_disk()""");
            assertThat(api.get("/readyz").status()).isEqualTo(200);
            api.sql("""
                    create function no_room() returns event_trigger language plpgsql as $$
                    begin raise exception 'could not extend file' using errcode = '53100'; end $$;
                    create event trigger no_room on ddl_command_start when tag in ('CREATE TABLE')
                        execute function no_room()""");
            assertThat(api.get("/readyz").status()).as("it tries only when a commit was refused").isEqualTo(200);
            ApiServer.Answer full = api.post("/api/v1/runs", ApiServer.WAITS);
            assertThat(full.status()).isEqualTo(503);
            assertThat(full.json().get("code").stringValue()).isEqualTo("DATABASE_FULL");
            assertThat(full.json().get("detail").stringValue()).contains("disk is full");
            ApiServer.Answer notReady = api.get("/readyz");
            assertThat(notReady.status()).isEqualTo(503);
            assertThat(notReady.json().get("detail").stringValue()).isEqualTo("the database's disk is full");
            assertThat(api.get("/healthz").status()).isEqualTo(200);
            api.sql("drop event trigger no_room");
            assertThat(api.get("/readyz").status()).isEqualTo(200);
            api.sql("create or replace function full_disk() returns trigger language plpgsql as $$"
                    + " begin set local transaction_read_only = on; create temp table x (); return new; end $$");
            ApiServer.Answer readOnly = api.post("/api/v1/runs", ApiServer.WAITS);
            assertThat(readOnly.json().get("code").stringValue()).as(readOnly.text())
                    .isEqualTo("DATABASE_READ_ONLY");
            api.sql("drop trigger full_disk on orchestration_runs");
            api.create(ApiServer.WAITS);
        }
    }

    @Test
    void anUnavailableDatabaseCostsACommandStepNoAttempt(@TempDir Path folder) throws Exception {
        try (ApiServer api = new ApiServer(folder)) {
            api.sql("""
                    create sequence refused;
                    create function unavailable() returns trigger language plpgsql as $$
                    begin
                        perform nextval('refused');
                        raise exception 'the database system is shutting down' using errcode = '57P03';
                    end $$;
                    create trigger unavailable before insert on execution_commands
                        for each row execute function unavailable()""");
            String run = api.create("""
                    {"name": "order", "start": true, "plan": {"tasks": [{"id": "t", "steps": [{"name": "buy",
                      "tool": "order.place", "retry": {"max_attempts": 1},
                      "input": {"symbol": "BTC-USD", "side": "buy", "type": "market", "quantity": "1"}}]}]}}""");
            Awaitility.await().until(() -> api.database().withConnection(c -> {
                try (var s = c.createStatement(); var row = s.executeQuery("select last_value from refused")) {
                    return row.next() && row.getLong(1) >= 3;
                }
            }));
            api.sql("drop trigger unavailable on execution_commands");

            api.awaitState(run, "completed");
            assertThat(api.get("/api/v1/runs/" + run + "/steps").json().get("items").get(0).get("attempt").intValue())
                    .isEqualTo(1);
        }
    }

    @Test
    void serverReportsAMissingDatabase(@TempDir Path folder) throws Exception {
        try (EmbeddedPostgres postgres = EmbeddedPostgres.start(
                EmbeddedPostgresOptions.throwaway(folder.resolve("postgres"), TestPostgres.BINARIES));
                ApiServer api = new ApiServer(folder.resolve("data"), postgres.url())) {
            String run = api.create(ApiServer.WAITS);
            assertThat(api.get("/readyz").status()).isEqualTo(200);

            ListAppender<ILoggingEvent> logged = new ListAppender<>() {
                @Override
                protected void append(ILoggingEvent event) {
                    event.prepareForDeferredProcessing();
                    super.append(event);
                }
            };
            logged.start();
            Logger failures = (Logger) LoggerFactory.getLogger(ExceptionMapper.class);
            failures.addAppender(logged);
            postgres.close();

            List<CompletableFuture<ApiServer.Answer>> answers = List.of(
                    CompletableFuture.supplyAsync(() -> api.get("/api/v1/runs")),
                    CompletableFuture.supplyAsync(() -> api.post("/api/v1/runs/" + run + "/start", "")),
                    CompletableFuture.supplyAsync(() -> api.post("/api/v1/runs", ApiServer.WAITS)),
                    CompletableFuture.supplyAsync(() -> api.get("/readyz")));
            assertThat(api.get("/healthz").status()).isEqualTo(200);
            for (CompletableFuture<ApiServer.Answer> each : answers) {
                ApiServer.Answer answer = each.get();
                assertThat(answer.status()).as(answer.text()).isEqualTo(503);
                assertThat(answer.json().get("code").stringValue()).isIn("DATABASE_UNAVAILABLE", "NOT_READY");
                assertThat(answer.header("Retry-After")).isEqualTo("1");
            }
            failures.detachAppender(logged);
            assertThat(logged.list).filteredOn(entry -> entry.getFormattedMessage().contains("/runs/{id}/start"))
                    .isNotEmpty()
                    .allSatisfy(entry -> assertThat(entry.getMDCPropertyMap()).containsEntry(LogContext.RUN, run));
            assertThat(api.get("/metrics").text()).contains("keelson_backlog_up 0.0", "keelson_queue_waiting NaN");
        }
    }

    @Test
    void aServerWhoseDatabaseFailsAtItsStartSaysSo(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (var connection = url.connect(); var statement = connection.createStatement()) {
            statement.execute("""
                    create function unavailable() returns trigger language plpgsql as $$
                    begin raise exception 'the database system is shutting down' using errcode = '57P03'; end $$;
                    create trigger unavailable after insert on api_keys for each row execute function unavailable()""");
        }
        assertThatThrownBy(() -> new ApiServer(folder, url).close())
                .isInstanceOfSatisfying(StartupException.class,
                        e -> assertThat(e.code()).isEqualTo("DATABASE_UNREACHABLE"))
                .hasMessageContaining("the database system is shutting down");
    }

    /** It answers, and nothing can be committed: with a standby, or a full disk. */
    @Test
    void aDatabaseThatOnlyReadsIsNotReady(@TempDir Path folder) throws Exception {
        DatabaseUrl url = TestDatabase.createUrl();
        try (ApiServer api = new ApiServer(folder, url, Map.of("KEELSON_LEASE_SECONDS", "3"))) {
            assertThat(api.get("/readyz").status()).isEqualTo(200);

            readOnly(api, true);
            Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> api.get("/readyz").status() == 503);
            assertThat(api.get("/healthz").status()).isEqualTo(200);

            readOnly(api, false);
            Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> api.get("/readyz").status() == 200);
        }
    }

    private static void readOnly(ApiServer api, boolean on) {
        api.database().withConnection(c -> {
            try (var s = c.createStatement()) {
                s.execute("set default_transaction_read_only = off");
                s.execute("do $$ begin execute format('alter database %I set default_transaction_read_only = "
                        + (on ? "on" : "off") + "', current_database()); end $$");
                s.execute("select pg_terminate_backend(pid) from pg_stat_activity"
                        + " where datname = current_database() and pid <> pg_backend_pid()");
                return on;
            }
        });
    }
}
