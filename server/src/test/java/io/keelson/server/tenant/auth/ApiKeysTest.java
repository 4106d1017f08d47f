package io.keelson.server.tenant.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keelson.api.tenant.AuditEntry;
import io.keelson.server.base.db.Database;
import io.keelson.server.base.db.TestDatabase;
import io.keelson.server.tenant.audit.AuditLog;
import io.keelson.server.tenant.audit.AuditOrigin;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ApiKeysTest {

    private static Database database;

    private final AtomicLong nanos = new AtomicLong();
    private final ApiKeyUsage uses = new ApiKeyUsage(database);
    private final ApiKeyLookup keys = new ApiKeyLookup(database, uses, nanos::get);
    private final KeyStore store = new KeyStore(database);

    @TempDir
    Path folder;

    @BeforeAll
    static void open() {
        database = TestDatabase.create();
        Bootstrap.ensureWorkspace(database);
    }

    @AfterAll
    static void close() {
        database.close();
    }

    @Test
    void aKeyOpensItsWorkspace() {
        String key = create("test").text();

        assertThat(Objects.requireNonNull(keys.find(key)).workspaceId()).isEqualTo(Bootstrap.DEFAULT_WORKSPACE);
    }

    @Test
    void theDatabaseHoldsNoKeyInClear() {
        String key = create("dumped").text();

        String rows = database.withConnection(c -> {
            try (var s = c.createStatement();
                    var row = s.executeQuery("select string_agg(k::text, ' ') from api_keys k")) {
                row.next();
                return row.getString(1);
            }
        });
        assertThat(rows).contains("dumped").doesNotContain(key).doesNotContain(key.substring(10, 50));
    }

    @Test
    void aMistypedOrForeignKeyOpensNothing() {
        String key = create("test").text();
        char other = key.charAt(20) == 'a' ? 'b' : 'a';

        String mistyped = key.substring(0, 20) + other + key.substring(21);

        assertThat(ApiKeyFormat.wellFormed(mistyped)).isFalse();
        assertThat(keys.find(mistyped)).isNull();
        assertThat(keys.find(key.substring(0, key.length() - 1))).isNull();
        assertThat(keys.find(ApiKeyFormat.generate())).isNull();
        assertThat(keys.find("")).isNull();
    }

    @Test
    void aRevokedKeyIsForgottenWithinFiveSeconds() {
        IssuedKey key = create("test");
        Caller caller = found(key);

        assertThat(revoke(key).state()).isEqualTo("revoked");
        assertThat(revoke(key)).as("again").isEqualTo(revoke(key));

        assertThat(keys.find(key.text())).as("remembered").isEqualTo(caller);
        forget();
        assertThat(keys.find(key.text())).isNull();
    }

    @Test
    void aKeyNamesItsPrincipalAndItsScopes() {
        Set<Scope> scopes = EnumSet.of(Scope.APPROVE, Scope.RUNS_READ);
        IssuedKey key = issued(store.create(Bootstrap.DEFAULT_WORKSPACE,
                new NewKey("phone", "ann", Principal.Kind.PERSON, scopes, null), AuditOrigin.SERVER));

        Caller caller = found(key);

        assertThat(caller.principal()).isEqualTo(new Principal(Principal.Kind.PERSON, "ann"));
        assertThat(caller.scopes()).isEqualTo(scopes);
        assertThat(store.create(Bootstrap.DEFAULT_WORKSPACE,
                new NewKey("bot", "ann", Principal.Kind.SERVICE, scopes, null), AuditOrigin.SERVER))
                .isEqualTo(new KeyResult.OtherKind(caller.principal()));
    }

    @Test
    void aKeyEndsWithItsLifetime() {
        IssuedKey key = create("short", Duration.ofSeconds(60));
        assertThat(keys.find(key.text())).isNotNull();

        sql("update api_keys set expires_at = clock_timestamp() where id = '" + key.row().id() + "'");
        forget();

        assertThat(keys.find(key.text())).isNull();
        assertThat(store.find(Bootstrap.DEFAULT_WORKSPACE, key.row().id()).orElseThrow().state()).isEqualTo("expired");
    }

    @Test
    void aRotatedKeyStaysValidForItsOverlap() {
        IssuedKey old = create("rotated", Duration.ofDays(30));

        IssuedKey fresh = issued(store.rotate(Bootstrap.DEFAULT_WORKSPACE, old.row().id(), Duration.ofHours(1),
                AuditOrigin.SERVER));

        KeyRow row = store.find(Bootstrap.DEFAULT_WORKSPACE, old.row().id()).orElseThrow();
        assertThat(row.replacedBy()).isEqualTo(fresh.row().id());
        assertThat(Duration.between(fresh.row().createdAt(), Objects.requireNonNull(row.expiresAt())))
                .isBetween(Duration.ofMinutes(59), Duration.ofMinutes(61));
        assertThat(Duration.between(fresh.row().createdAt(), Objects.requireNonNull(fresh.row().expiresAt())))
                .isEqualTo(Duration.ofDays(30));
        assertThat(found(old).principal()).isEqualTo(found(fresh).principal());
        assertThat(found(old).scopes()).isEqualTo(found(fresh).scopes());
        assertThat(store.rotate(Bootstrap.DEFAULT_WORKSPACE, old.row().id(), Duration.ZERO, AuditOrigin.SERVER))
                .isInstanceOf(KeyResult.NotActive.class);
    }

    @Test
    void aKeyRotatedWithoutOverlapEndsAtOnce() {
        IssuedKey old = create("leaked");

        store.rotate(Bootstrap.DEFAULT_WORKSPACE, old.row().id(), Duration.ZERO, AuditOrigin.SERVER);

        assertThat(keys.find(old.text())).isNull();
    }

    @Test
    void theLastUseIsWrittenOnceAMinute() {
        IssuedKey key = create("used");
        assertThat(lastUse(key)).isNull();

        found(key);
        assertThat(uses.write()).isEqualTo(1);
        Instant first = Objects.requireNonNull(lastUse(key));
        forget();
        found(key);
        assertThat(uses.write()).as("within the minute").isZero();

        sql("update api_keys set last_used_at = last_used_at - interval '61 seconds' where id = '" + key.row().id()
                + "'");
        forget();
        found(key);
        assertThat(uses.write()).isEqualTo(1);
        assertThat(lastUse(key)).isAfterOrEqualTo(first);
    }

    @Test
    void onlyKeysOfTheFirstWorkspaceRunTheInstallation() {
        sql("insert into workspaces (id, name) values ('00000000-0000-7000-8000-0000000000aa', 'other')");

        assertThatThrownBy(() -> store.create(UUID.fromString("00000000-0000-7000-8000-0000000000aa"),
                new NewKey("x", "x", null, Scope.all(true), null), AuditOrigin.SERVER))
                .hasMessageContaining("ck_api_keys_operator");
    }

    @Test
    void keyChangesAreAudited() {
        IssuedKey key = create("audited");
        revoke(key);

        assertThat(new AuditLog(database).list(Bootstrap.DEFAULT_WORKSPACE, null, 100).items())
                .filteredOn(entry -> key.row().id().toString().equals(entry.subject()))
                .extracting(AuditEntry::action).containsExactly("key_revoked", "key_created");
        assertThatThrownBy(() -> sql("update operator_audit set actor = 'other'")).hasMessageContaining("append-only");
        assertThatThrownBy(() -> sql("delete from operator_audit")).hasMessageContaining("append-only");
        assertThatThrownBy(() -> sql("truncate operator_audit")).hasMessageContaining("append-only");
    }

    private IssuedKey create(String name) {
        return create(name, null);
    }

    private IssuedKey create(String name, @Nullable Duration lifetime) {
        return issued(store.create(Bootstrap.DEFAULT_WORKSPACE,
                new NewKey(name, "tester", null, Scope.all(true), lifetime), AuditOrigin.SERVER));
    }

    private static IssuedKey issued(KeyResult result) {
        assertThat(result).isInstanceOf(KeyResult.Issued.class);
        return ((KeyResult.Issued) result).key();
    }

    private Caller found(IssuedKey key) {
        return Objects.requireNonNull(keys.find(key.text()));
    }

    private KeyRow revoke(IssuedKey key) {
        return store.revoke(Bootstrap.DEFAULT_WORKSPACE, key.row().id(), AuditOrigin.SERVER).orElseThrow();
    }

    private @Nullable Instant lastUse(IssuedKey key) {
        return store.find(Bootstrap.DEFAULT_WORKSPACE, key.row().id()).orElseThrow().lastUsedAt();
    }

    private void forget() {
        nanos.addAndGet(ApiKeyLookup.CACHE_TIME.toNanos());
    }

    private static void sql(String statement) {
        database.runInTransaction(c -> {
            try (var s = c.createStatement()) {
                s.execute(statement);
            }
        });
    }

    @Test
    void keysHave256RandomBitsAndAChecksum() {
        String key = ApiKeyFormat.generate();

        assertThat(key).matches("kl_[0-9a-z]{57}").isNotEqualTo(ApiKeyFormat.generate());
        assertThat(Math.pow(36, 50)).isGreaterThan(Math.pow(2, 256));
        assertThat(ApiKeyFormat.wellFormed(key)).isTrue();
    }

    @Test
    void firstStartCreatesAKeyThatLaterStartsFind() throws Exception {
        LocalCredentials files = new LocalCredentials(folder);

        String first = Bootstrap.ensureKey(database, keys, files);
        String second = Bootstrap.ensureKey(database, keys, files);

        assertThat(second).isEqualTo(first);
        Path file = folder.resolve("api-key");
        assertThat(Files.readString(file).strip()).isEqualTo(first);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
    }

    @Test
    void aGivenKeyIsMadeOnceAndStaysRevoked() {
        Bootstrap.GivenKey given = new Bootstrap.GivenKey(ApiKeyFormat.generate(), Duration.ofDays(90));

        assertThat(Bootstrap.ensureGiven(database, given)).isEqualTo(Bootstrap.ensureGiven(database, given));

        KeyStore store = new KeyStore(database);
        List<KeyRow> made = store.list(Bootstrap.DEFAULT_WORKSPACE, null, 100).stream()
                .filter(key -> key.name().equals("bootstrap")).toList();
        assertThat(made).singleElement().satisfies(key -> {
            assertThat(key.scopes()).isEqualTo(Scope.all(true));
            assertThat(Duration.between(key.createdAt(), key.expiresAt())).isEqualTo(Duration.ofDays(90));
        });
        assertThat(keys.find(given.text())).isNotNull();
        store.revoke(Bootstrap.DEFAULT_WORKSPACE, made.getFirst().id(), AuditOrigin.SERVER);
        Bootstrap.ensureGiven(database, given);
        assertThat(store.find(Bootstrap.DEFAULT_WORKSPACE, made.getFirst().id()).orElseThrow().state())
                .isEqualTo("revoked");
    }

    @Test
    void aKeyThatOpensNothingHereIsReplaced() {
        LocalCredentials files = new LocalCredentials(folder);
        String foreign = ApiKeyFormat.generate();
        files.writeKey(foreign);

        assertThat(Bootstrap.ensureKey(database, keys, files)).isNotEqualTo(foreign).isEqualTo(files.readKey());
    }

    @Test
    void onlyTheServersOwnAddressIsRemoved() {
        LocalCredentials files = new LocalCredentials(folder);
        files.writeUrl(URI.create("http://127.0.0.1:1"));
        files.writeUrl(URI.create("http://127.0.0.1:2"));

        files.removeUrl(URI.create("http://127.0.0.1:1"));
        assertThat(folder.resolve("url")).hasContent("http://127.0.0.1:2");

        files.removeUrl(URI.create("http://127.0.0.1:2"));
        files.removeUrl(URI.create("http://127.0.0.1:2"));
        assertThat(folder).isEmptyDirectory();
    }
}
